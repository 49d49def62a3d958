"""Whether the value of an environment variable means the same under its NPU name."""

from __future__ import annotations

import re

from trainwright.migrate.remark import Safety

_DEVICES = re.compile(r"\d+(?:,\d+)*")
_ALLOCATOR = re.compile(
    r"(?:max_split_size_mb:\d+|garbage_collection_threshold:\d*\.?\d+|expandable_segments:True)(?:,(?!$)|$)"
)
_KNOWN_OPTIONS = frozenset({"max_split_size_mb", "garbage_collection_threshold", "expandable_segments"})


def value_safety(name: str, value: str | None) -> tuple[Safety, str]:
    """How sure it is that `value` can stay, and why not; `value` None: only known when the program runs."""
    if value is None:
        return "safe", ""
    if name == "CUDA_VISIBLE_DEVICES":
        return _devices(value)
    if name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        return _allocator(value)
    return "safe", ""


def _devices(value: str) -> tuple[Safety, str]:
    if _DEVICES.fullmatch(value):
        numbers = [int(number) for number in value.split(",")]
        if numbers != sorted(set(numbers)):
            return "unsafe", f"In {value} the numbers do not rise: the NPU runtime then finds no device."
        return "safe", ""
    if value in ("", "-1", "NoDevFiles"):
        return "unsafe", "The value hides all devices; check that the program then runs on the CPU."
    return "display", f"The value {value} is no list of numbers."


def _allocator(value: str) -> tuple[Safety, str]:
    if not value or re.fullmatch(f"(?:{_ALLOCATOR.pattern})+", value):
        return "safe", ""
    options = [part.partition(":")[0].strip() for part in value.split(",")]
    unknown = [option for option in options if option not in _KNOWN_OPTIONS]
    if unknown:
        return "display", f"The NPU allocator does not know {', '.join(unknown)}."
    return "unsafe", "Check the values of the options."
