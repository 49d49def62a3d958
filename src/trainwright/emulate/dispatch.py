"""Kernels of the emulated NPU: every operator that has a CPU kernel gets one that runs it over the same memory.

Three ways, chosen by what an operator's schema says:

- *direct*: views and operators that change only sizes, strides or storage run the CPU kernel on the NPU tensor itself,
  so that storages are shared as everywhere in torch;
- *whole*: everything else takes CPU aliases of its tensors, runs the CPU kernel below autograd, and its new tensors
  become NPU tensors. Operators that torch composes of others above the backend are run whole, too, so that their
  numbers are those of the CPU;
- operators that move data between devices or answer questions about one have a module of their own (`transfer`).

Autograd, version counters, views, functional transforms are torch's own: nothing here replaces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from trainwright.emulate.device import STATE
from trainwright.emulate.plain import CPU_KEYS, NUMBERS, Kernel, is_plain, plain_kernel, to_npu, written
from trainwright.emulate.relabel import Loan, number, storage_on_npu
from trainwright.emulate.watch import AFTER, REPLACEMENTS

_CPU = torch.device("cpu")
_LISTS = (list, tuple)
#: Run on the NPU tensor itself though their schema does not say that they only look at it.
DIRECT = frozenset({"_unsafe_view", "_local_scalar_dense", "is_set_to", "resize_as_"})
#: Take CPU tensors beside NPU tensors on a real device, too: indices and positions.
MIXED = frozenset({"index", "index_put_", "_index_put_impl_", "index_put", "_unsafe_index", "_unsafe_index_put"})
#: Handled elsewhere, or rightly composed of operators that are here.
LEFT_OUT = frozenset(
    [
        "copy_",
        "_to_copy",
        "_copy_from",
        "_copy_from_and_resize",
        "_pin_memory",
        "is_pinned",
        "record_stream",
        "lift",
        "_has_same_storage_numel",
        "is_same_size",
        "is_coalesced",
        "sparse_dim",
        "dense_dim",
        "_assert_tensor_metadata",
        "_print",
        "_assert_scalar",
        "sym_constrain_range",
        "sym_constrain_range_for_size",
        "_functional_sym_constrain_range",
        "_functional_sym_constrain_range_for_size",
        "_functional_assert_scalar",
        "_has_compatible_shallow_copy_type",
        "sparse_coo_tensor",
        "_sparse_compressed_tensor_with_dims",
        "sparse_compressed_tensor",
        "copy_sparse_to_sparse",
        "_coalesced",
        "resize_as_sparse",
        "sparse_resize",
        "sparse_resize_and_clear",
    ]
)


@cache
def names() -> tuple[str, ...]:
    """Every overload to register, as ``mm`` or ``add.Tensor``."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    found = []
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if not name.startswith("aten::") or name[6:].partition(".")[0] in LEFT_OUT:
            continue
        if has(name, "CPU") or (has(name, "CompositeExplicitAutograd") and _runs_whole(overload(name[6:]))):
            found.append(name[6:])
    return tuple(found)


@cache
def base_names() -> frozenset[str]:
    """The operators that have a kernel here, without their overloads."""
    return frozenset(name.partition(".")[0] for name in names())


def overload(name: str) -> Any:
    """The `OpOverload` of ``add.Tensor`` or ``mm``."""
    base, _, rest = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), rest or "default")


def _is_view(schema: Any) -> bool:
    return any(value.alias_info is not None and not value.alias_info.is_write for value in schema.returns)


def _runs_whole(op: Any) -> bool:
    """Whether an operator that torch composes is run on CPU aliases as one."""
    return not _is_view(op._schema) and torch.Tag.inplace_view not in op.tags


def kernel_of(name: str) -> Kernel:
    """The kernel of an overload, made when it is first called (most never are)."""
    made: Kernel | None = None

    def kernel(*args: Any, **kwargs: Any) -> Any:
        nonlocal made
        if made is None:
            made = _make(name)
        return made(*args, **kwargs)

    return kernel


def _make(name: str) -> Kernel:
    op = overload(name)
    schema = op._schema
    if _is_view(schema) or torch.Tag.inplace_view in op.tags or name.partition(".")[0] in DIRECT:
        return _direct(op)
    return plain_kernel(op, _whole(op)) if is_plain(schema) else _whole(op)


def _direct(op: Any) -> Kernel:
    """Run the CPU kernel on the NPU tensor itself."""
    redispatch = op._handle.redispatch_boxed
    changes = torch.Tag.inplace_view in op.tags or op._schema.is_mutable

    def kernel(*args: Any, **kwargs: Any) -> Any:
        result = redispatch(CPU_KEYS, *args, **kwargs)
        if changes:
            storage_on_npu(args[0], args[0].get_device())
        return result

    return kernel


def _whole(op: Any) -> Kernel:
    """Run the CPU kernel over aliases; new results become NPU tensors."""
    schema = op._schema
    name = schema.name.partition("::")[2]
    redispatch = op._handle.redispatch_boxed
    places = written(schema)
    changes = any(place is not None for place in places) or schema.is_mutable
    takes_device = any(argument.name == "device" for argument in schema.arguments)
    tensors = [at for at, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor"][1:]
    mixed = name in MIXED

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with Call() as call:
            taken = [call.taken(value) for value in args]
            for at in tensors:
                if at < len(taken) and type(taken[at]) in NUMBERS:
                    taken[at] = number(taken[at])
            named = {key: call.taken(value) for key, value in kwargs.items()} if kwargs else {}
            if takes_device:
                call.take_device(named)
            if call.strange and not mixed:
                call.refuse(name)
            index = call.index if call.index >= 0 else STATE.current
            replacement = REPLACEMENTS.get(name)
            if replacement is None:
                result = redispatch(CPU_KEYS, *taken, **named)
            else:
                result = replacement(op, index, *taken, **named)
            for after in AFTER:
                after(name, result)
        if not changes:
            return to_npu(result, index)
        for tensor, alias in call.seen:
            follow(tensor, alias)
        return _own_results(result, places, args, kwargs, index)

    return kernel


class Call(Loan):
    """The tensors of one call: taken to the CPU, with the device that they were on."""

    __slots__ = ("index", "seen", "strange")

    def __init__(self) -> None:
        super().__init__()
        self.index = -1
        self.strange = ""
        self.seen: list[tuple[Tensor, Tensor]] = []

    def taken(self, value: Any) -> Any:
        """A CPU alias of an NPU tensor, also inside lists; everything else as it is."""
        if isinstance(value, Tensor):
            at = value.get_device()
            if at < 0:
                if value.dim():
                    self.strange = str(value.device)
                return value
            if self.index < 0:
                self.index = at
            elif at != self.index:
                self.strange = f"npu:{at}"
            alias = self.cpu(value)
            self.seen.append((value, alias))
            return alias
        if type(value) in _LISTS and value and (value[0] is None or isinstance(value[0], Tensor)):
            return [self.taken(item) for item in value]
        return value

    def take_device(self, named: dict[str, Any]) -> None:
        """Let a factory make its tensor in CPU memory."""
        device = named.get("device")
        if device is not None and device.type == "npu":
            self.index = STATE.current if device.index is None else device.index
            STATE.check(self.index)
        named["device"] = _CPU
        if "pin_memory" in named:
            named["pin_memory"] = None

    def refuse(self, name: str) -> None:
        """Tensors of several devices met; with none on the NPU, or a CPU tensor of one element, that is fine."""
        if self.index >= 0:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"npu:{self.index} and {self.strange}! (when calling aten::{name})"
            )


def follow(before: Tensor, after: Tensor) -> None:
    """Give a tensor the sizes that a kernel gave its alias (``out=`` of another shape)."""
    if after.shape != before.shape:
        torch.ops.aten.set_.source_Storage_storage_offset(
            before, before.untyped_storage(), after.storage_offset(), after.shape, after.stride()
        )


def _own_results(result: Any, places: Sequence[int | str | None], args: Any, kwargs: Any, index: int) -> Any:
    """What a kernel that writes to its arguments answers: those arguments, and what else is new."""
    if not places:
        return None
    results = (result,) if len(places) == 1 else result
    own = [
        to_npu(value, index) if place is None else args[place] if isinstance(place, int) else kwargs[place]
        for value, place in zip(results, places, strict=True)
    ]
    return own[0] if len(own) == 1 else tuple(own)
