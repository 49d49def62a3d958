"""TW103: functions and classes of torch.cuda."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.knowledge.cuda_names import (
    EXCEPTIONS,
    RENAMED,
    is_private,
    npu_attribute,
    unknown_arguments,
)
from trainwright.migrate.python.edits import carrier, remark, rename_attribute, replace
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.python.style import agnostic_name, torch_visible
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import MethodHook, NameHook, Rule

#: First parts below torch.cuda that need more than another module name; they are not this rule's.
_ELSEWHERE = frozenset(
    {"amp", "nvtx", "get_device_properties", "get_device_capability", "CUDAGraph", "graph", "graphs"}
    | {"make_graphed_callables", "graph_pool_handle"}
)
_GETATTR_ARGS = 3


def _visit(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    below = ref.name.removeprefix("torch.cuda").lstrip(".").partition(".")[0]
    if below in _ELSEWHERE or below.endswith(("Tensor", "Storage")) or file.options.style == "shim":
        return
    name = f"{ref.name}.{patched}" if (patched := _patched(ref, file)) else ref.name
    if name.removeprefix("torch.cuda.") in EXCEPTIONS and npu_attribute(name) is None:
        yield _exception(ref, below, file)
        return
    if is_private(name) and _is_imported(ref, file):
        return  # its import is spoken of
    if is_private(name) or npu_attribute(name) is None:
        yield _missing(ref, name, file)
        return
    spelled = carrier(file, ref.node, "torch.cuda")
    if spelled is None:
        return  # an import or an alias elsewhere spells torch.cuda, and is rewritten there
    unknown = unknown_arguments(below, _given(ref.call)) if file.options.style == "npu" else []
    if unknown:
        yield _takes_less(ref, below, unknown, file)
        return
    edits = _agnostic(ref, below, spelled, file) if file.options.style == "agnostic" else _npu(ref, spelled, file)
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"torch.cuda.{below}".rstrip("."),
        name=ref.name,
        advice="" if edits else "this torch has no form of it for every device: choose by the type of the device",
        outcome="replaced" if edits else "manual",
        safety="safe" if edits else "display",
        confidence=ref.confidence,
        edits=edits,
        registers=True,
        minutes=0 if edits else 10,
    )


def _exception(ref: NameRef, below: str, file: PythonFile) -> Remark:
    return remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"torch.cuda.{below} exists without CUDA, too",
        name=ref.name,
        detail=EXCEPTIONS[below],
        outcome="note",
        confidence=ref.confidence,
        evidence="torch/cuda/__init__.py, libtorch_npu 2.8",
    )


def _is_imported(ref: NameRef, file: PythonFile) -> bool:
    """Whether a name stands for something that an import from torch.cuda in this file binds."""
    node: ast.AST = ref.node
    while isinstance(node, ast.Attribute):
        node = node.value
    bindings = file.bindings(node) if isinstance(node, ast.Name) and node in file.index.scopes else []
    return any(binding.kind == "import" and binding.target.startswith("torch.cuda.") for binding in bindings)


def _given(call: ast.Call | None) -> list[str | None]:
    """The names of the arguments of a call, None for each by position."""
    return [*[None for _ in call.args], *[keyword.arg for keyword in call.keywords if keyword.arg]] if call else []


def _takes_less(ref: NameRef, below: str, unknown: list[str], file: PythonFile) -> Remark:
    listed = ", ".join(unknown)
    return remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"torch.npu.{below} does not take {listed}",
        name=ref.name,
        advice=f"call torch.npu.{below} without {listed}",
        outcome="manual",
        confidence=ref.confidence,
        minutes=5,
        evidence="source of torch_npu 2.8",
    )


def _missing(ref: NameRef, name: str, file: PythonFile) -> Remark:
    private = is_private(name)
    if isinstance(ref.node, ast.Call) and len(ref.node.args) == _GETATTR_ARGS:
        return remark(
            file, ref.node, number=RULE.number, title=f"{name} may be missing", name=name, outcome="note",
            detail="The code takes the default where it is.", confidence=ref.confidence,
        )  # fmt: skip
    return remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"{name} is private to torch" if private else f"{name} has no counterpart in torch.npu",
        name=name,
        detail="Whether torch_npu has the same is not documented." if private else "",
        advice="remove the call, or guard it so that it runs on CUDA only",
        outcome="manual" if private else "blocked",
        confidence=ref.confidence,
        minutes=30,
        evidence="public names of torch_npu.npu, torch_npu 2.8",
    )


def _patched(ref: NameRef, file: PythonFile) -> str:
    """The attribute that ``setattr(torch.cuda, "name", ...)`` or ``patch.object`` speaks of."""
    above = file.parent(ref.node)
    reads = isinstance(above, ast.Call) and getattr(above.func, "id", "") in ("getattr", "hasattr")
    if isinstance(above, ast.Call) and above.args[:1] == [ref.node] and len(above.args) > 1 and not reads:
        name = file.constant(above.args[1])
        return name if isinstance(name, str) and name.isidentifier() else ""
    return ""


def _stream(node: ast.Attribute, file: PythonFile) -> Iterator[Remark]:
    if file.kind(node.value) not in ("other", "self") and isinstance(node.ctx, ast.Load):
        yield remark(
            file,
            node,
            number=RULE.number,
            title=f"{node.attr} is the handle of a CUDA stream",
            name=node.attr,
            advice="what takes the handle is made for CUDA; the handle of an NPU stream is npu_stream",
            outcome="manual",
            confidence="inferred",
            minutes=15,
            evidence="torch_npu/npu/streams.py",
        )


def _agnostic(ref: NameRef, below: str, spelled: ast.AST, file: PythonFile) -> tuple[Edit, ...]:
    name = agnostic_name(file, below)
    whole = isinstance(spelled, ast.Attribute) and torch_visible(file, ref.node)
    return (replace(file, ref.node, name),) if name and whole and ref.name == f"torch.cuda.{below}" else ()


def _npu(ref: NameRef, spelled: ast.AST, file: PythonFile) -> tuple[Edit, ...]:
    if isinstance(spelled, ast.Constant):
        known = spelled.value if spelled.value in ("cuda", "torch.cuda") else None
        return (replace(file, spelled, f'"{known.replace("cuda", "npu")}"'),) if isinstance(known, str) else ()
    assert isinstance(spelled, ast.Attribute)
    edits = [rename_attribute(file, spelled, "npu")]
    parts = ref.name.split(".")
    for at, part in enumerate(parts):
        named = carrier(file, ref.node, ".".join(parts[: at + 1])) if part in RENAMED else None
        if isinstance(named, ast.Attribute):
            edits.append(rename_attribute(file, named, RENAMED[part]))
    return tuple(edits)


def _private(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    last = ref.name.removeprefix("torch._C.").partition(".")[0]
    if last.startswith(("_cuda_", "_CUDA", "_cudart", "_nvtx")):
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f"torch._C.{last} is a part of torch built with CUDA",
            name=f"torch._C.{last}",
            detail="A torch without CUDA does not have it: the access raises AttributeError.",
            advice="use the public function of torch.npu that does the same, or guard it so that it runs on CUDA only",
            outcome="manual",
            confidence=ref.confidence,
            minutes=20,
        )


RULE = Rule(
    code="cuda-api",
    number="TW103",
    summary="A function or class of torch.cuda is used.",
    why="torch on an Ascend machine has no CUDA; torch.npu has most of the same names.",
    before="torch.cuda.synchronize()",
    after="torch.npu.synchronize()",
    safety="safe",
    hooks=(
        NameHook(names=("torch.cuda.*",), visit=_visit),
        NameHook(names=("torch._C.*",), visit=_private),
        MethodHook(attributes=("cuda_stream",), visit=_stream),
    ),
)
