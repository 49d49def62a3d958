"""How a device is spelled in the chosen style.

``npu``: the string ``"npu"`` and `torch.npu`. ``agnostic``: `torch.accelerator`, which knows CUDA, NPU and others; its
expression never raises on a machine without accelerator, so comparisons stay comparisons.
"""

from __future__ import annotations

import ast

from trainwright.migrate.python.edits import replace, word_edit
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.remark import Edit

ACCELERATOR_TYPE = "str(torch.accelerator.current_accelerator())"
#: torch.cuda name -> torch.accelerator name, and the torch version that has it (documentation of torch.accelerator).
_ACCELERATOR: dict[str, tuple[str, tuple[int, int]]] = {
    "is_available": ("is_available", (2, 6)),
    "device_count": ("device_count", (2, 6)),
    "current_device": ("current_device_index", (2, 6)),
    "set_device": ("set_device_index", (2, 6)),
    "current_stream": ("current_stream", (2, 6)),
    "set_stream": ("set_stream", (2, 6)),
    "synchronize": ("synchronize", (2, 6)),
    "empty_cache": ("empty_cache", (2, 9)),
    "memory_stats": ("memory_stats", (2, 9)),
    "memory_allocated": ("memory_allocated", (2, 9)),
    "max_memory_allocated": ("max_memory_allocated", (2, 9)),
    "memory_reserved": ("memory_reserved", (2, 9)),
    "max_memory_reserved": ("max_memory_reserved", (2, 9)),
    "reset_peak_memory_stats": ("reset_peak_memory_stats", (2, 9)),
    "reset_accumulated_memory_stats": ("reset_accumulated_memory_stats", (2, 9)),
}
_GENERIC = {"Stream": "torch.Stream", "Event": "torch.Event"}


def torch_visible(file: PythonFile, node: ast.AST) -> bool:
    """Whether the name ``torch`` means torch where a node stands."""
    found = file.scope(node).lookup("torch")
    if not found:
        return False
    return any(binding.kind == "import" and binding.target == "torch" for binding in found[1])


def agnostic_name(file: PythonFile, function: str) -> str | None:
    """The device-independent name of ``torch.cuda.<function>``; None when this torch has none."""
    if function in _GENERIC:
        return _GENERIC[function]
    name, since = _ACCELERATOR.get(function, ("", (99, 0)))
    return f"torch.accelerator.{name}" if file.options.torch_version >= since else None


def device_edit(file: PythonFile, node: ast.expr, value: str) -> Edit | None:
    """The edit that turns a device string (``cuda``, ``cuda:0``, f"cuda:{i}") into this style; None: cannot."""
    if file.options.style == "npu":
        if isinstance(node, ast.BinOp):
            return replace(file, node, repr(value.replace("cuda", "npu")))
        edit = word_edit(file, node, "cuda", "npu")
        if edit is None and isinstance(node, ast.Constant) and value.startswith("cuda"):
            return replace(file, node, f'"{value.replace("cuda", "npu", 1)}"')  # "cu" "da"
        return edit
    if not torch_visible(file, node):
        return None
    if value == "cuda" and not isinstance(node, ast.JoinedStr):
        return replace(file, node, ACCELERATOR_TYPE)
    if isinstance(node, ast.Constant) and value.startswith("cuda:") and value[5:].isdecimal():
        return replace(file, node, f'f"{{torch.accelerator.current_accelerator()}}:{value[5:]}"')
    if isinstance(node, ast.JoinedStr):
        return word_edit(file, node, "cuda", "{torch.accelerator.current_accelerator()}")
    return None


def device_argument(file: PythonFile) -> str:
    """The device type as an argument text."""
    return '"npu"' if file.options.style == "npu" else ACCELERATOR_TYPE
