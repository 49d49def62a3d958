"""CPU memory under the name of another device: how a tensor on the emulated NPU is made, and looked at as CPU tensor.

A tensor on the emulated NPU is a genuine PrivateUse1 tensor whose bytes lie in CPU memory. A result of a CPU kernel
becomes one by writing three fields in place: the backend bits of its dispatch key set, its device, and the device of
its storage. The way back is a shallow copy (same storage) with the first two fields of a CPU tensor.

torch has no call that does this, so the fields are written by address. Their places are not taken from a header: they
are searched at installation in tensors that torch itself made for the device (through a DLPack capsule of device type
kDLExtDev, which torch maps to PrivateUse1), and tried on others. A torch whose tensors do not answer as expected is
refused before anything is written.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trainwright.core.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

_KDL_CPU, _KDL_EXT_DEV = 1, 12  # dlpack.h
_SEARCHED_BYTES = 256
_STORAGE_BYTES = 96
_ADDRESSES = 1 << 48

#: The whole address space as 16-bit and as 64-bit words: writing one costs an index operation, not an object.
_WORDS: Any = (ctypes.c_uint16 * (_ADDRESSES // 2)).from_address(0)
_LONGS: Any = (ctypes.c_uint64 * (_ADDRESSES // 8)).from_address(0)


#: Held while storages are lent.
TURN = threading.RLock()


class _Layout:
    """Where the fields are, in words from the start of an object, and what stands there for each device."""

    keys_at = 0
    device_at = 0
    storage_device_at = 0
    backend_bits = 0
    cpu_device = 0
    npu_type = 0
    number_at = 0
    number_bit = 0


def probe() -> None:
    """Find the fields.

    Raises:
        InputError: this torch keeps them in a way that is not understood.
    """
    keys, devices, storages = set(range(0, _SEARCHED_BYTES, 8)), set(range(0, _SEARCHED_BYTES, 2)), set(range(0, 96, 2))
    kinds = itertools.product((torch.float32, torch.int64, torch.bool), ((), (2, 3), (4, 0, 2)), (0, 1, 5))
    for dtype, shape, index in kinds:
        cpu = torch.zeros(shape, dtype=dtype)
        npu = _through_dlpack(torch.zeros(shape, dtype=dtype), index)
        keys &= _places(npu._cdata, _raw_keys(npu), 8) & _places(cpu._cdata, _raw_keys(cpu), 8)
        devices &= _places(npu._cdata, _npu_word(npu), 2) & _places(cpu._cdata, _cpu_word(cpu), 2)
        one, other = npu.untyped_storage()._cdata, cpu.untyped_storage()._cdata
        storages &= _places(one, _npu_word(npu), 2, _STORAGE_BYTES) & _places(other, _cpu_word(cpu), 2, _STORAGE_BYTES)
    if not (len(keys) == len(devices) == len(storages) == 1):
        raise _unknown_layout()
    _Layout.keys_at, _Layout.device_at, _Layout.storage_device_at = (
        keys.pop() // 8,
        devices.pop() // 2,
        storages.pop() // 2,
    )
    cpu, npu = torch.zeros(1), _through_dlpack(torch.zeros(1), 0)
    _Layout.backend_bits = _raw_keys(cpu) ^ _raw_keys(npu)
    _Layout.cpu_device = _cpu_word(cpu)
    _Layout.npu_type = _npu_word(npu) & 0xFF
    _Layout.number_at, _Layout.number_bit = _find_number_flag()
    _try_out()


def _try_out() -> None:
    """Turn a tensor and back, and ask torch what it sees."""
    tensor = torch.arange(6.0).reshape(2, 3)
    become_npu(tensor, 3)
    assert tensor.device == torch.device("npu", 3) == tensor.untyped_storage().device
    assert torch._C._dispatch_keys(tensor) == torch._C._dispatch_keys(_through_dlpack(torch.zeros(2, 3), 3))
    with Loan() as loan:
        seen = loan.cpu(tensor)
        assert seen.view(6).device.type == "cpu"
        assert seen.data_ptr() == tensor.data_ptr()
        assert seen.sum().item() == 15.0
    single = torch.ones((), dtype=torch.float32)
    assert (single * number(2.0)).dtype == torch.float32 != (single * torch.tensor(2.0, dtype=torch.float64)).dtype
    assert tensor.untyped_storage().device == torch.device("npu", 3)


class Fields:
    """The fields of one torch, for kernels that write them without a call for each.

    `keys`, `device` and `storage_device` are places in words of 64, 16 and 16 bits from the start of an object.
    """

    def __init__(self) -> None:
        self.words, self.longs = _WORDS, _LONGS
        self.keys, self.device, self.storage_device = _Layout.keys_at, _Layout.device_at, _Layout.storage_device_at
        self.backend_bits, self.cpu, self.npu = _Layout.backend_bits, _Layout.cpu_device, _Layout.npu_type


def become_npu(tensor: Tensor, index: int) -> bool:
    """Make a CPU tensor one of NPU `index`, in place; whether its storage was new there."""
    layout = _Layout
    place = (tensor.untyped_storage()._cdata >> 1) + layout.storage_device_at  # raises where there is no storage
    word = layout.npu_type | index << 8
    at = tensor._cdata
    if _WORDS[(at >> 1) + layout.device_at] == layout.cpu_device:
        _LONGS[(at >> 3) + layout.keys_at] ^= layout.backend_bits
        _WORDS[(at >> 1) + layout.device_at] = word
    new = _WORDS[place] == layout.cpu_device
    if new:
        _WORDS[place] = word
    return bool(new)


@lru_cache(maxsize=1024, typed=True)
def number(value: complex) -> Tensor:
    """A Python number as the tensor that torch makes of it: a 0-dimensional one that decides no result's type."""
    dtypes = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
    tensor = torch.tensor(value, dtype=dtypes[type(value)])
    ctypes.c_ubyte.from_address(tensor._cdata + _Layout.number_at).value |= _Layout.number_bit
    return tensor


def storage_on_npu(tensor: Tensor, index: int) -> bool:
    """Label the storage of a tensor again where a CPU kernel gave it other memory; whether it had."""
    place = (tensor.untyped_storage()._cdata >> 1) + _Layout.storage_device_at
    new = _WORDS[place] == _Layout.cpu_device
    if new:
        _WORDS[place] = _Layout.npu_type | index << 8
    return bool(new)


class Loan:
    """Tensors of devices as CPU tensors over the same memory, for the length of a block.

    A view takes its device from its storage, so storages are CPU storages meanwhile. Others must not look at them
    then: loans follow each other as kernels on a stream do, whichever thread they come from.
    """

    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []

    def __enter__(self) -> Self:
        TURN.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        for place, word in reversed(self.places):
            _WORDS[place] = word
        TURN.release()

    def cpu(self, tensor: Tensor) -> Tensor:
        """A CPU tensor with the storage, sizes and strides of one on a device; it takes no part in autograd."""
        layout = _Layout
        alias = tensor.data
        at = alias._cdata
        _LONGS[(at >> 3) + layout.keys_at] ^= layout.backend_bits
        _WORDS[(at >> 1) + layout.device_at] = layout.cpu_device
        place = (alias.untyped_storage()._cdata >> 1) + layout.storage_device_at
        self.places.append((place, _WORDS[place]))
        _WORDS[place] = layout.cpu_device
        return alias


@contextmanager
def storage_as_cpu(storage: torch.UntypedStorage) -> Iterator[None]:
    """A storage of a device as one of the CPU, for the length of a block."""
    place = (storage._cdata >> 1) + _Layout.storage_device_at
    word = _WORDS[place]
    with Loan():
        _WORDS[place] = _Layout.cpu_device
        try:
            yield
        finally:
            _WORDS[place] = word


# ---- what torch itself makes ---------------------------------------------------------------------------------------


def _through_dlpack(tensor: Tensor, index: int) -> Tensor:
    """A tensor of the device as torch makes it: a capsule of the CPU tensor with the device rewritten, read again."""
    return _readdressed(tensor, _KDL_EXT_DEV, index)


def lasting_cpu(tensor: Tensor) -> Tensor:
    """A CPU tensor over the memory of one on a device, for as long as it lives; slower than a loan."""
    return _readdressed(tensor.detach(), _KDL_CPU, 0)


def _readdressed(tensor: Tensor, kind: int, index: int) -> Tensor:
    capsule = torch._C._to_dlpack(tensor)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    header = pointer(capsule, b"dltensor")  # DLTensor: void* data, int32 device_type, int32 device_id
    ctypes.c_int32.from_address(header + 8).value = kind
    ctypes.c_int32.from_address(header + 12).value = index
    made: Tensor = torch._C._from_dlpack(capsule)
    return made


def _find_number_flag() -> tuple[int, int]:
    """Byte and bit that tell a Python number from a tensor: torch keeps the former in the graph of ``x * 2.0``."""
    x = torch.ones(2, requires_grad=True)
    always, never = [0xFF] * _SEARCHED_BYTES, [0] * _SEARCHED_BYTES
    for value in range(16):
        graph = x.mul(float(value)).grad_fn
        taken = graph._saved_other
        plain = torch.tensor(float(value), dtype=torch.float64)
        ones, others = (ctypes.string_at(t._cdata, _SEARCHED_BYTES) for t in (taken, plain))
        always = [a & b for a, b in zip(always, ones, strict=True)]
        never = [a | b for a, b in zip(never, others, strict=True)]
    between = range(2 * _Layout.device_at, 8 * _Layout.keys_at)  # the flags; elsewhere are counts and pointers
    found = [(at, always[at] & ~never[at]) for at in between if always[at] & ~never[at]]
    if len(found) != 1 or found[0][1].bit_count() != 1:
        raise _unknown_layout()
    return found[0]


def _unknown_layout() -> InputError:
    return InputError(
        f"the emulated NPU does not know how torch {torch.__version__} lays out its tensors",
        allowed="torch 2.10 to 2.14",
        todo="install one of these",
    )


def _raw_keys(tensor: Tensor) -> int:
    return int(torch._C._dispatch_keys(tensor).raw_repr())


def _npu_word(tensor: Tensor) -> int:
    """c10::Device: a signed byte of type, a signed byte of index."""
    return int(torch._C._autograd.DeviceType.PrivateUse1.value) | (tensor.device.index << 8)


def _cpu_word(_: Tensor) -> int:
    return 0xFF00  # type 0, index -1


def _places(address: int, value: int, width: int, size: int = _SEARCHED_BYTES) -> set[int]:
    content = ctypes.string_at(address, size)
    wanted = value.to_bytes(width, "little")
    return {at for at in range(0, size - width + 1, width) if content[at : at + width] == wanted}
