"""Which names exist on the NPU side, so that none is ever written that does not.

Three lists: what ``torch_npu.npu`` exports (``torch.npu`` is the same module), the names read out of the wheel of
torch_npu 2.8.0.post5, and the names in the support table. Of the direct names of ``torch_npu.npu`` the first decides.
"""

from __future__ import annotations

from functools import cache

from trainwright.knowledge.tables import read_lines, read_rows

#: Public names that torch_npu/npu/__init__.py binds and does not list in ``__all__`` (torch_npu 2.8).
_UNLISTED = frozenset({"default_generators"})


@cache
def exports() -> frozenset[str]:
    """What ``torch_npu.npu`` exports: ``Event``, ``synchronize``."""
    return frozenset(read_lines("npu_surface.txt")) | _UNLISTED


@cache
def wheel_names() -> frozenset[str]:
    """Dotted names in the wheel, beginning with ``torch_npu``."""
    return frozenset(read_lines("npu_names.txt"))


@cache
def operators(kind: str) -> frozenset[str]:
    """Names of the operators with a kernel: ``aten`` for those of torch, ``custom`` for those of the NPU alone."""
    rows = (*read_rows("registered_ops.tsv"), *read_rows("wheel_operators.tsv"))
    return frozenset(overload.split(".")[0] for of, overload in rows if of == kind)


@cache
def documented() -> frozenset[str]:
    """Names that the support table gives as the NPU's: they may lie deeper than the wheel's names were read."""
    names = {row[1].replace("torch.npu.", "torch_npu.npu.") for row in read_rows("api_support.tsv")}
    return frozenset(name for name in names if name.startswith("torch_npu."))


@cache
def modules() -> frozenset[str]:
    """Modules and packages among the names of the wheel: everything that has names below it."""
    return frozenset({name.rpartition(".")[0] for name in wheel_names()})


#: Members of enumerations, which no list of names of modules holds (torch_npu/profiler, torch_npu 2.8).
_MEMBERS = frozenset({"torch_npu.profiler.ProfilerActivity.CPU", "torch_npu.profiler.ProfilerActivity.NPU"})


@cache
def npu_name_exists(dotted: str) -> bool:
    """Whether a dotted name exists in torch_npu: ``torch.npu.Event``, ``torch_npu.npu_fusion_attention``.

    A name that is neither below ``torch.npu`` nor of torch_npu is not on the NPU side: False.
    """
    if dotted in {"torch_npu", "torch.npu", "torch_npu.npu"} | _MEMBERS:
        return True
    if dotted.startswith("torch.ops.npu."):
        return dotted.split(".")[3] in operators("custom")
    if dotted.startswith("torch.npu."):
        dotted = f"torch_npu.npu.{dotted.removeprefix('torch.npu.')}"
    if dotted.startswith("torch_npu.npu."):
        first, _, rest = dotted.removeprefix("torch_npu.npu.").partition(".")
        if not rest:
            return first in exports() or dotted in modules()
    if dotted in wheel_names() or dotted in documented():
        return True
    return dotted.startswith("torch_npu.") and dotted.removeprefix("torch_npu.") in operators("custom")
