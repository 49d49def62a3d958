"""Which operators of torch the emulated NPU computes exactly as the CPU does, forward and backward.

Usage: ``python benchmarks/emulator_coverage.py [--dtype float32] [--ops NAME ...]``. It needs torch, ``expecttest`` and
Trainwright in the running Python. The inputs are the samples of torch's own operator database. A result counts when it
is on the device, has the CPU's dtype and shape, and equals it bit by bit, NaN included; random operators draw from
equal seeds. ``empty`` and its like have no values to compare: their shapes are. Exit code 0: the aims are met, 1:
missed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map

from trainwright.emulate import install

AIM = 0.99
SAMPLES = 6
#: Why an operator may disagree.
REASONS = {
    "sparse.sampled_addmm": "compressed sparse tensors are not emulated",
    "sparse.mm.reduce": "compressed sparse tensors are not emulated",
    "to_sparse": "sparse tensors are not emulated",
    "tensor_split": "torch wants the index tensor on the CPU",
    "linalg.lstsq": "LAPACK's answer depends on how its memory is aligned",
    "linalg.lstsq.grad_oriented": "LAPACK's answer depends on how its memory is aligned",
}
NO_VALUES = ("empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "empty_permuted")


def copied(value: Any, device: str | None) -> Any:
    """Samples for one device: fresh leaves, devices among the arguments replaced."""

    def one(item: Any) -> Any:
        if isinstance(item, Tensor):
            fresh = item.detach().clone()
            moved = fresh if device is None else fresh.to(device)
            return moved.requires_grad_(item.requires_grad)
        is_device = isinstance(item, torch.device) or (isinstance(item, str) and item == "cpu")
        return torch.device(device) if device is not None and is_device else item

    return tree_map(one, value)


def difference(cpu: Any, npu: Any, *, values: bool = True) -> str:
    """What differs between two results; empty if nothing."""
    ones, others = tree_flatten(cpu)[0], tree_flatten(npu)[0]
    if len(ones) != len(others):
        return "another structure"
    for one, other in zip(ones, others, strict=True):
        if isinstance(one, Tensor):
            found = _tensors(one, other, values)
            if found:
                return found
        elif isinstance(one, float) and math.isnan(one):
            if not math.isnan(other):
                return f"{other} for nan"
        elif not isinstance(one, torch.device) and one != other:
            return f"{other} for {one}"
    return ""


def _tensors(one: Tensor, other: Any, values: bool) -> str:
    if not isinstance(other, Tensor) or other.device.type != "npu":
        return "not on the device"
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return f"{other.dtype} {tuple(other.shape)} for {one.dtype} {tuple(one.shape)}"
    if not values:
        return ""
    a, b = one.detach().resolve_conj().resolve_neg(), other.detach().cpu().resolve_conj().resolve_neg()
    return "" if equal(a, b) else "other values"


def equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same values, NaN at the same places."""
    if one.dtype.is_complex:
        one, other = torch.view_as_real(one.to(torch.complex64)), torch.view_as_real(other.to(torch.complex64))
    if not one.dtype.is_floating_point:
        return torch.equal(one, other)
    nan = one.isnan()
    return torch.equal(nan, other.isnan()) and torch.equal(one.masked_fill(nan, 0), other.masked_fill(nan, 0))


def gradients(results: Any, inputs: Any) -> list[Tensor | None]:
    """The gradients of the sum of all results, for every input that wants one."""
    outs = [t for t in tree_flatten(results)[0] if isinstance(t, Tensor) and t.requires_grad]
    leaves = [t for t in tree_flatten(inputs)[0] if isinstance(t, Tensor) and t.requires_grad]
    sums = [t.abs().sum() if t.dtype.is_complex else t.sum() for t in outs]
    return list(torch.autograd.grad(sums, leaves, allow_unused=True)) if sums and leaves else []


def samples_of(op: Any, dtype: torch.dtype) -> Iterator[Any]:
    """The first samples that the CPU itself can compute."""
    wants_grad = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=wants_grad)):
        if number == SAMPLES:
            return
        yield (sample.input, sample.args, dict(sample.kwargs))


def compared(op: Any, dtype: torch.dtype) -> tuple[str, str | None]:
    """What is wrong forward and backward; the latter None if it was not tried."""
    forward, backward = "", None
    for sample in samples_of(op, dtype):
        cpu, npu = copied(sample, None), copied(sample, "npu:0")
        try:
            torch.manual_seed(0)
            expected = op(cpu[0], *cpu[1], **cpu[2])
            torch.manual_seed(1)
            expected_grads = gradients(expected, cpu)
        except Exception:
            continue
        try:
            torch.manual_seed(0)
            result = op(npu[0], *npu[1], **npu[2])
            forward = forward or difference(expected, result, values=op.name not in NO_VALUES)
        except Exception as error:
            forward = forward or f"{type(error).__name__}: {str(error).splitlines()[0][:90]}"
            continue
        if not expected_grads or op.name in NO_VALUES:
            continue
        try:
            torch.manual_seed(1)
            backward = backward or difference(expected_grads, gradients(result, npu))
        except Exception as error:
            backward = backward or f"{type(error).__name__}: {str(error).splitlines()[0][:90]}"
    return forward, backward


def main() -> int:
    """Compare; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "int64", "complex64"))
    parser.add_argument("--ops", nargs="+", metavar="NAME", help="only these operators")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    install(devices=1)
    rows = list(compared_all(getattr(torch, arguments.dtype), arguments.ops))
    good = sum(not row["forward"] for row in rows)
    tried = [row for row in rows if row["backward"] is not None]
    back = sum(not row["backward"] for row in tried)
    if arguments.json:
        print(json.dumps({"dtype": arguments.dtype, "operators": rows}))
    else:
        for row in rows:
            for way in ("forward", "backward"):
                if row[way]:
                    reason = REASONS.get(row["operator"], "no reason known")
                    print(f"{row['operator']:40} {way:8} {row[way]}  [{reason}]")
        print(f"\ntorch {torch.__version__}, {arguments.dtype}: forward {good} of {len(rows)} operators equal the CPU")
        print(f"backward {back} of {len(tried)}")
    met = good >= AIM * len(rows) and back >= AIM * len(tried)
    return int(arguments.dtype == "float32" and not met)


def compared_all(dtype: torch.dtype, names: list[str] | None) -> Iterator[dict[str, Any]]:
    """One row for each operator of the database that the CPU has in a dtype."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if dtype in op.supported_dtypes("cpu") and (not names or name in names):
            forward, backward = compared(op, dtype)
            yield {"operator": name, "forward": forward, "backward": backward}


if __name__ == "__main__":
    sys.exit(main())
