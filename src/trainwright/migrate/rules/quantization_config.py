"""TW507: quantisation by bitsandbytes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.hugging_face import LOADERS, LOADING, loading_call, switch
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.usage import is_own_package, is_use
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import MethodHook, NameHook, Rule

_EVIDENCE = "bitsandbytes PR #1422, #1442; transformers PR #31512"
_CONFIG = "BitsAndBytesConfig"
_EIGHT = "load the model in bfloat16, or in 4 bits as nf4"
_FOUR = "install bitsandbytes with its NPU backend (multi-backend branch) and use nf4 alone; try one training step"
_FP4 = f'pass bnb_4bit_quant_type="nf4": of the 4-bit types only nf4 is there for the NPU; {_FOUR}'
_LAYERS_8 = frozenset({"Linear8bitLt", "Int8Params", "OutlierAwareLinear", "SwitchBackLinearBnb", "Embedding8bit"})
_LAYERS_4 = frozenset({"Linear4bit", "LinearFP4", "LinearNF4", "Params4bit", "Embedding4bit", "EmbeddingNF4"})


def _visit(ref: NameRef | ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    call = ref.call if isinstance(ref, NameRef) and ref.name.endswith(f".{_CONFIG}") else loading_call(ref, file)
    if call is None:
        return
    eight, four = switch(call, "load_in_8bit"), switch(call, "load_in_4bit")
    for found, bits in ((eight, 8), (four, 4)):
        if found is not None:
            yield _switched(found, bits, call, file)


def _switched(found: ast.keyword, bits: int, call: ast.Call, file: PythonFile) -> Remark:
    sure = file.constant(found.value) is True
    kind = file.constant(_argument(call, "bnb_4bit_quant_type"))
    if bits == 8:
        detail, advice = "8-bit quantisation of bitsandbytes has no NPU kernels.", _EIGHT
    elif kind == "nf4":
        detail, advice = "nf4 is the one type that bitsandbytes has for the NPU.", _FOUR
    else:
        named = _argument(call, "bnb_4bit_quant_type") is not None
        detail = "" if named else "Without bnb_4bit_quant_type the type is fp4."
        advice = _FP4
    return remark(
        file, found, number=RULE.number, title=f"{found.arg}={file.text(found.value)}", name="bitsandbytes",
        detail=detail, advice=advice, outcome="blocked" if bits == 8 and sure else "manual",
        confidence="resolved" if sure else "inferred", minutes=30 if bits == 8 else 15, evidence=_EVIDENCE,
    )  # fmt: skip


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _layer(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    last = ref.name.rpartition(".")[2]
    eight = last in _LAYERS_8 or ref.name == "bitsandbytes.matmul"
    if not (eight or last in _LAYERS_4) or is_own_package(ref.name, file) or not is_use(ref, file):
        return
    if isinstance(file.parent(ref.node), ast.Compare):
        return  # a question about a layer that is there already
    made = ref.call is not None or isinstance(file.parent(ref.node), ast.ClassDef)
    yield remark(
        file, ref.node, number=RULE.number, title=f"{last} of bitsandbytes", name=ref.name,
        detail="8-bit quantisation of bitsandbytes has no NPU kernels." if eight else "",
        advice="use torch.nn.Linear in bfloat16" if eight else _FOUR,
        outcome="blocked" if eight and made else "manual", confidence=ref.confidence, minutes=30 if eight else 15,
        evidence=_EVIDENCE,
    )  # fmt: skip


RULE = Rule(
    code="quantization-config",
    number="TW507",
    summary="A model is quantised by bitsandbytes.",
    why="On the NPU bitsandbytes quantises to nf4 and back, no more: 8-bit layers fail at the first matmul.",
    before="BitsAndBytesConfig(load_in_8bit=True)",
    after='BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")',
    hooks=(
        NameHook(names=LOADERS, visit=_visit),
        MethodHook(attributes=LOADING, visit=_visit),
        NameHook(names=("bitsandbytes.*",), visit=_layer),
    ),
)
