"""Pinned memory: C++ asks the device's hooks for its allocator, which a hook in Python cannot answer.

The hooks object gets a copy of its table of virtual functions in which one entry, ``getPinnedMemoryAllocator``, is
replaced by ``c10::GetDefaultMobileCPUAllocator``: a second allocator of CPU memory that nothing else uses.
Memory is pinned if it is from there. The place of the entry is counted in the headers that torch ships.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trainwright.core.errors import InputError

_HEADERS = ("AcceleratorHooksInterface.h", "PrivateUse1HooksInterface.h")
_WANTED = "getPinnedMemoryAllocator"
_DESTRUCTORS = 2  # a virtual destructor takes two entries (Itanium C++ ABI)
_BEFORE_TABLE = 2  # offset to top, type information
_STORAGE_BYTES = 96

_KEPT: list[Any] = []
_STORAGE_ALLOCATOR_AT: list[int] = []
_ALLOCATOR: list[int] = []


def install_pinned(hooks: Any) -> None:
    """Give `hooks` the allocator.

    Raises:
        InputError: torch came without its headers, or they say something unexpected.
    """
    slot, entries = _slot()
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    pinned = ctypes.cast(library._ZN3c1028GetDefaultMobileCPUAllocatorEv, ctypes.c_void_p).value or 0
    object_at = ctypes.c_uint64.from_address(id(hooks) + object.__basicsize__).value  # a pybind11 instance: its value
    table_at = ctypes.c_uint64.from_address(object_at).value
    table = (ctypes.c_uint64 * (entries + _BEFORE_TABLE)).from_address(table_at - 8 * _BEFORE_TABLE)
    copied = type(table)(*table)
    copied[_BEFORE_TABLE + slot] = pinned
    _KEPT.append(copied)
    ctypes.c_uint64.from_address(object_at).value = ctypes.addressof(copied) + 8 * _BEFORE_TABLE
    _ALLOCATOR[:] = [_address(library._ZN3c1028GetDefaultMobileCPUAllocatorEv)]
    _STORAGE_ALLOCATOR_AT[:] = [_place_of_allocator(_address(library._ZN3c1015GetCPUAllocatorEv))]


def is_pinned(self: Tensor, device: torch.device | None = None) -> bool:
    """Whether a tensor's memory is pinned: never that of a device."""
    del device
    if self.get_device() >= 0:
        return False
    place = self.untyped_storage()._cdata + _STORAGE_ALLOCATOR_AT[0]
    return bool(ctypes.c_uint64.from_address(place).value == _ALLOCATOR[0])


def _address(function: Any) -> int:
    function.restype = ctypes.c_void_p
    return int(function())


def _slot() -> tuple[int, int]:
    """The entry of the wanted function, and how many there are: virtual functions in the order of their declaration."""
    folder = Path(torch.__file__).parent / "include" / "ATen" / "detail"
    names: list[str] = []
    for header in _HEADERS:
        path = folder / header
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        names += re.findall(r"^  virtual (?!~)[^;{~]*?\b(\w+)\s*\(", text, re.MULTILINE)
    found = [at for at, name in enumerate(names) if name == _WANTED]
    if len(found) != 1:
        raise InputError(
            f"torch {torch.__version__} does not say in its headers how a device allocates pinned memory",
            allowed="torch 2.10 to 2.14",
            todo="install one of these from its wheel, which has the headers",
        )
    return found[0] + _DESTRUCTORS, len(names) + _DESTRUCTORS


def _place_of_allocator(allocator: int) -> int:
    """Where a storage keeps its allocator."""
    places = set(range(0, _STORAGE_BYTES, 8))
    for size in (1, 7, 100):
        content = ctypes.string_at(torch.empty(size).untyped_storage()._cdata, _STORAGE_BYTES)
        wanted = allocator.to_bytes(8, "little")
        places &= {at for at in range(0, _STORAGE_BYTES, 8) if content[at : at + 8] == wanted}
    assert len(places) == 1, "a storage does not name its allocator"
    return places.pop()
