"""TW106: properties and capability of a CUDA device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainwright.migrate.python.edits import carrier, remark, rename_attribute
from trainwright.migrate.python.module import NameRef, PythonFile
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.rule import NameHook, Rule

#: What torch.npu.get_device_properties gives (facts on API support, 3.2).
_PRESENT = frozenset({"name", "total_memory", "L2_cache_size", "cube_core_num", "vector_core_num"})
_NEAREST = {
    "multi_processor_count": "cube_core_num or vector_core_num, whichever kind of core the work runs on",
    "major": "the name of the chip: an NPU has no compute capability",
    "minor": "the name of the chip: an NPU has no compute capability",
    "warp_size": "a setting of your own: an NPU has no warps",
    "max_threads_per_multi_processor": "a setting of your own: an NPU has no threads in this sense",
    "shared_memory_per_block": "the unified buffer of the chip: 192 KiB on Atlas A2",
    "gcnArchName": "name",
}
_EVIDENCE = "torch.npu.get_device_properties gives name, total_memory, L2_cache_size, cube_core_num, vector_core_num"


def _properties(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    missing = sorted(_read(ref, file) - _PRESENT)
    for name in missing:
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title=f"{name} is no property of an NPU",
            name=name,
            advice=f"use {_NEAREST.get(name, 'what the NPU gives: ' + ', '.join(sorted(_PRESENT)))}",
            outcome="manual",
            confidence=ref.confidence,
            minutes=15,
            evidence=_EVIDENCE,
        )
    edits = _edits(ref, file)
    if edits and not missing:  # with a missing property the line fails under either name
        yield remark(
            file,
            ref.node,
            number=RULE.number,
            title="torch.cuda.get_device_properties",
            name="torch.cuda.get_device_properties",
            safety="safe",
            confidence=ref.confidence,
            edits=edits,
            registers=True,
        )


def _edits(ref: NameRef, file: PythonFile) -> tuple[Edit, ...]:
    spelled = carrier(file, ref.node, "torch.cuda")
    if file.options.style != "npu" or not isinstance(spelled, ast.Attribute):
        return ()
    return (rename_attribute(file, spelled, "npu"),)


def _read(ref: NameRef, file: PythonFile) -> set[str]:
    """The attributes read from the properties: at once, or from the variable they are kept in."""
    if ref.call is None:
        return set()
    above = file.parent(ref.call)
    if isinstance(above, ast.Attribute):
        return {above.attr}
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        target = above.targets[0]
        found = file.index.scopes[target].lookup(target.id)
        uses = file.uses.get((found[0], target.id), []) if found else []
        parents = [file.parent(use) for use in uses]
        return {parent.attr for parent in parents if isinstance(parent, ast.Attribute)}
    return set()


def _capability(ref: NameRef, file: PythonFile) -> Iterator[Remark]:
    shim = file.options.style == "shim"
    yield remark(
        file,
        ref.node,
        number=RULE.number,
        title="an NPU has no compute capability",
        name="torch.cuda.get_device_capability",
        detail=("It returns None" if shim else "This call raises without CUDA; that of torch.npu returns None")
        + ", unless a newer torch_npu finds TORCH_NPU_DEVICE_CAPABILITY set: unpacking or comparing the answer fails.",
        advice="decide by torch.npu.get_device_name(), or by what the branch needs, such as "
        "torch.npu.is_bf16_supported()",
        outcome="manual",
        confidence=ref.confidence,
        minutes=15 if not shim else 20,
        evidence="API support of torch_npu 7.3.0 (no) and 26.0.0 (through an environment variable)",
    )


RULE = Rule(
    code="device-properties",
    number="TW106",
    summary="Properties or the compute capability of the device are asked for.",
    why="An NPU has other properties: no multiprocessors, no warps, no compute capability.",
    before="torch.cuda.get_device_properties(0).multi_processor_count",
    after="torch.npu.get_device_properties(0).cube_core_num",
    safety="safe",
    hooks=(
        NameHook(names=("torch.cuda.get_device_properties",), visit=_properties),
        NameHook(names=("torch.cuda.get_device_capability",), visit=_capability),
    ),
)
