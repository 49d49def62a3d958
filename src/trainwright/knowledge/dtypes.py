"""Data types: as torch writes them and as the support table does."""

from __future__ import annotations

#: ``torch.float32`` -> ``fp32``; other names of torch for the same type included.
_LISTED = {
    "float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float64": "fp64",
    "double": "fp64", "uint8": "uint8", "int8": "int8", "int16": "int16", "short": "int16", "int32": "int32",
    "int": "int32", "int64": "int64", "long": "int64", "bool": "bool", "complex64": "complex64", "cfloat": "complex64",
    "complex128": "complex128", "cdouble": "complex128",
}  # fmt: skip


def listed_dtype(dotted: str) -> str:
    """How the support table calls a data type (``torch.float64``: ``fp64``); empty when it is none it speaks of."""
    module, _, name = dotted.rpartition(".")
    return _LISTED.get(name, "") if module == "torch" else ""
