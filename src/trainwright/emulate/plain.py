"""Kernels of plain operators: tensors and numbers in, one tensor out. Most calls of a training step are of this kind.

They do what `trainwright.emulate.dispatch` does in general, written without a call for each argument: at the size of a
small model, a step on the emulated device is as slow as these few lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.device import STATE, hold
from trainwright.emulate.relabel import TURN, Fields, become_npu, number
from trainwright.emulate.watch import AFTER, REPLACEMENTS

Kernel = Callable[..., Any]

CPU_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
NUMBERS = (float, int, bool, complex)


def redispatched(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run the CPU kernel of an operator."""
    return op._handle.redispatch_boxed(CPU_KEYS, *args, **kwargs)


def to_npu(result: Any, index: int) -> Any:
    """Results of a CPU kernel as results of NPU `index`."""
    if isinstance(result, Tensor):
        if become_npu(result, index):
            hold(result.untyped_storage(), index)
        return result
    if type(result) in (list, tuple):
        return type(result)(to_npu(item, index) for item in result)
    return result


def written(schema: Any) -> tuple[int | str | None, ...]:
    """For each result the argument that it is, a position or a name; None where it is a new tensor."""
    places: dict[str, int | str] = {}
    for at, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            for label in argument.alias_info.before_set:
                places[label] = argument.name if argument.kwarg_only else at
    found: list[int | str | None] = []
    for value in schema.returns:
        labels = value.alias_info.before_set if value.alias_info is not None else ()
        found.append(next((places[label] for label in labels if label in places), None))
    return tuple(found)


def is_plain(schema: Any) -> bool:
    """Whether an operator is: no lists of tensors, no device, no tensors by keyword, one tensor as result."""
    for argument in schema.arguments:
        kind = str(argument.type)
        if argument.name == "device" or "Tensor[]" in kind or "Optional[Tensor][]" in kind:
            return False
        if "Tensor" in kind and (argument.kwarg_only or "List" in kind):
            return False
    return len(schema.returns) == 1 and str(schema.returns[0].type) == "Tensor" and _returns_argument_or_new(schema)


def _returns_argument_or_new(schema: Any) -> bool:
    place = written(schema)[0]
    return isinstance(place, int) if schema.is_mutable else place is None


def plain_kernel(op: Any, general: Kernel) -> Kernel:
    """The kernel of a plain operator; `general` takes the calls that need more: errors, faults, overflow."""
    schema = op._schema
    name = schema.name.partition("::")[2]
    redispatch = op._handle.redispatch_boxed
    tensor_places = frozenset(at for at, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor")
    own = written(schema)[0]
    assert own is None or isinstance(own, int)
    fields = Fields()
    words, longs, backend_bits, cpu, npu = fields.words, fields.longs, fields.backend_bits, fields.cpu, fields.npu
    keys_at, device_at, storage_device_at = fields.keys, fields.device, fields.storage_device
    acquire, release = TURN.acquire, TURN.release

    def kernel(*args: Any, **kwargs: Any) -> Any:  # noqa: PLR0912 - one function, because calls are what costs
        if AFTER or name in REPLACEMENTS:
            return general(*args, **kwargs)
        taken = list(args)
        places: list[int] = []
        index = -1
        acquire()
        try:
            for at, value in enumerate(args):
                if isinstance(value, Tensor):
                    device = value.get_device()
                    if device != index:
                        if device < 0:
                            if value.dim():
                                return general(*args, **kwargs)
                            continue
                        if index >= 0:
                            return general(*args, **kwargs)
                        index = device
                    alias = value.data
                    address = alias._cdata
                    longs[(address >> 3) + keys_at] ^= backend_bits
                    words[(address >> 1) + device_at] = cpu
                    place = (alias.untyped_storage()._cdata >> 1) + storage_device_at
                    words[place] = cpu
                    places.append(place)
                    taken[at] = alias
                elif at in tensor_places and type(value) in NUMBERS:
                    taken[at] = number(value)
            result = redispatch(CPU_KEYS, *taken, **kwargs)
        finally:
            word = npu | index << 8
            for place in places:
                words[place] = word
            release()
        if own is not None:
            return args[own]
        if index < 0:
            index = STATE.current
        if become_npu(result, index):
            hold(result.untyped_storage(), index)
        return result

    return kernel
