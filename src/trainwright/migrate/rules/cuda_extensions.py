"""Python modules built from CUDA sources: ``CUDAExtension``, ``load``, ``load_inline``, and ``CUDA_HOME``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainwright.migrate.native.extensions import arguments_of, extensions_of
from trainwright.migrate.native.guards import only_with_cuda
from trainwright.migrate.native.links import VARIABLE
from trainwright.migrate.native.paths import Texts
from trainwright.migrate.project import Extension
from trainwright.migrate.python.edits import remark
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import NameHook, Rule

_PACKAGE = "torch.utils.cpp_extension."
_MAKERS = ("CUDAExtension", "load", "load_inline")
_EVIDENCE = "torch_npu.utils.cpp_extension.NpuExtension; op-plugin examples"
_CUDA = (".cu", ".cuh")
_NVCC_FLAG = re.compile(
    r"-gencode|arch=|--?use_fast_math|--expt|--extended|-[UD]_*CUDA|--?ptxas|-Xptxas|-Xcompiler|--?lineinfo|--threads"
    r"|--resource-usage|--?maxrregcount|--?gpu-|--offload-arch"
)
_SHOWN = 6


def _visit_maker(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if isinstance(ref.node, ast.alias):
        return
    maker = ref.name.rpartition(".")[2]
    found = _declared(file, ref)
    if ref.call is None and maker != "CUDAExtension":
        return  # only handed around; the call is reported where it stands
    if found and not any(extension.cuda for extension in found):
        return
    unknown = maker != "CUDAExtension" and not any(extension.sources for extension in found)
    if unknown and ref.call is not None and not _asks_for_cuda(ref.call):
        return
    optional = only_with_cuda(file, ref.node)
    name = next((extension.module for extension in found if extension.module), "")
    yield remark(
        file,
        ref.call or ref.node,
        number=RULE.number,
        title=f"{maker} builds {name or 'a module'} with CUDA",
        detail=" ".join(filter(None, [_sources(found), _flags(file, ref.call), _OPTIONAL if optional else ""])),
        advice=_advice(name, found),
        outcome="manual" if optional else "blocked",
        confidence=ref.confidence,
        minutes=30,
        evidence=_EVIDENCE,
        name=name,
    )


_OPTIONAL = "It stands under a condition that holds only with CUDA, so the build on an NPU machine passes it by."


def _declared(file: PythonFile, ref: NameRef) -> list[Extension]:
    """The extensions a reference makes: by its own call, or by the calls of the variable it is put in."""
    calls = [ref.call] if ref.call is not None else []
    kept = file.parent(ref.node)
    if ref.call is None and isinstance(kept, ast.Assign) and isinstance(kept.targets[0], ast.Name):
        name = kept.targets[0].id
        calls = [call for call in file.index.calls if isinstance(call.func, ast.Name) and call.func.id == name]
    lines = {call.lineno for call in calls}
    every = extensions_of(file.tree, file.resolve, file=file.source.path)
    return [item for item in every if item.line in lines and not item.module.startswith(VARIABLE)]


def _asks_for_cuda(call: ast.Call) -> bool:
    return any(keyword.arg in ("cuda_sources", "extra_cuda_cflags", "with_cuda") for keyword in call.keywords)


def _sources(found: list[Extension]) -> str:
    sources = list(dict.fromkeys(source for extension in found for source in extension.sources))
    device = [source for source in sources if source.endswith(_CUDA)]
    if device:
        return f"CUDA sources: {_listed(device)}; {len(sources) - len(device)} other."
    return f"Sources: {_listed(sources)}." if sources else "Its sources are put together at run time."


def _flags(file: PythonFile, call: ast.Call | None) -> str:
    """The nvcc flags given to the compiler."""
    given = arguments_of(call, ()) if call is not None else {}
    texts = Texts(ast.walk(file.tree))
    flags = texts.of(given.get("extra_cuda_cflags"))
    compile_args = given.get("extra_compile_args")
    tables = texts.values(compile_args.id) if isinstance(compile_args, ast.Name) else [compile_args]
    for table in tables:
        if isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "nvcc":
                    flags += texts.of(value)
    own = [flag for flag in flags if _NVCC_FLAG.match(flag)]
    return f"Flags of nvcc that no other compiler takes: {_listed(own)}." if own else ""


def _advice(name: str, found: list[Extension]) -> str:
    sources = [source for extension in found for source in extension.sources]
    plain = list(dict.fromkeys(source for source in sources if not source.endswith(_CUDA)))
    if sources and not plain:
        return "There is no C++ part to keep: replace each kernel as TW605 says for it, and leave the extension out."
    shown = ", ".join(f'"{source}"' for source in plain[:_SHOWN]) or "the C++ sources"
    more = ", ..." if len(plain) > _SHOWN else ""
    return (
        f'Build the C++ part with NpuExtension("{name or "name"}", [{shown}{more}]) from '
        "torch_npu.utils.cpp_extension, and replace each kernel as TW605 says for it; where a PyTorch fallback exists, "
        "leave the extension out."
    )


def _visit_home(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    if isinstance(ref.node, ast.alias):
        return
    parent = file.parent(ref.node)
    asked = isinstance(parent, ast.Compare | ast.If | ast.IfExp | ast.BoolOp | ast.UnaryOp | ast.Assert)
    variable = ref.name.rpartition(".")[2]
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title=f"{variable} is None on an NPU machine",
        detail="The code asks whether it is set." if asked else "",
        advice="" if asked else f"Leave {variable} out, or use it only where it is not None.",
        outcome="note" if asked else "manual",
        confidence=ref.confidence,
        minutes=0 if asked else 10,
        evidence="torch.utils.cpp_extension source",
        name=ref.name,
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


RULE = Rule(
    code="cuda-extensions",
    number="TW606",
    summary="A Python module is built from CUDA sources.",
    why="There is no nvcc on an NPU machine and nothing to run what it makes; the build stops there.",
    before='CUDAExtension("ops._C", ["ops.cpp", "kernels.cu"])',
    after='NpuExtension("ops._C", ["ops.cpp"])',
    hooks=(
        NameHook(names=tuple(_PACKAGE + maker for maker in _MAKERS), visit=_visit_maker),
        NameHook(names=(f"{_PACKAGE}CUDA_HOME", f"{_PACKAGE}CUDNN_HOME"), visit=_visit_home),
    ),
)
