"""Read a fault profile and put its faults in place of the kernels that it names.

A profile is YAML: a list under ``faults``, each with ``operator`` (a name of ATen such as ``mm``, or a list of them),
``fault`` (a kind), the kind's parameters, and when it happens: ``dtype`` (of the first floating-point tensor), ``rank``
(a number or a list), ``after`` (so many calls go right first), ``every`` (only each n-th call after that).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from trainwright.core.errors import InputError
from trainwright.emulate.dispatch import base_names
from trainwright.emulate.fault import KINDS, Call, FaultKind
from trainwright.emulate.plain import redispatched
from trainwright.emulate.watch import REPLACEMENTS

_WHEN = {"operator", "fault", "dtype", "rank", "after", "every"}
_INSTALLED: list[Any] = []
_DTYPES = ("float16", "bfloat16", "float32", "float64")


@dataclass
class Fault:
    """One fault of a profile, and how often its operators were called and changed in this process."""

    operators: tuple[str, ...]
    kind: FaultKind
    parameters: Mapping[str, float]
    dtype: torch.dtype | None = None
    ranks: tuple[int, ...] = ()
    after: int = 0
    every: int = 1
    calls: int = 0
    changed: int = 0
    memory: dict[str, Any] = field(default_factory=dict)

    def happens(self, args: Iterable[Any]) -> bool:
        """Whether it happens at this call."""
        if self.ranks and int(os.environ.get("RANK", "0")) not in self.ranks:
            return False
        if self.dtype is not None and _dtype_of(args) is not self.dtype:
            return False
        self.calls += 1
        return self.calls > self.after and (self.calls - self.after - 1) % self.every == 0


def _dtype_of(args: Iterable[Any]) -> torch.dtype | None:
    tensors = [value for value in args if isinstance(value, Tensor) and value.is_floating_point()]
    return tensors[0].dtype if tensors else None


def read_profile(name: str) -> list[Fault]:
    """The faults of a profile: a file, or the name of one that comes with the package.

    Raises:
        InputError: there is none, or it says something that is not known.
    """
    shipped = files("trainwright.emulate.profiles").joinpath(f"{name}.yaml")
    path = Path(name)
    if path.is_file():
        text = path.read_text(encoding="utf-8")
    elif "/" not in name and shipped.is_file():
        text = shipped.read_text(encoding="utf-8")
    else:
        raise InputError(f"there is no fault profile {name!r}", allowed="a YAML file, or demo")
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"fault profile {name} is no YAML: {error}") from error
    entries = content.get("faults") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"fault profile {name} has no list under `faults`", todo="see profile demo for an example")
    return [_fault(entry, f"{name}, fault {number}") for number, entry in enumerate(entries, 1)]


def _fault(entry: Any, where: str) -> Fault:
    if not isinstance(entry, dict) or not {"operator", "fault"} <= set(entry):
        raise InputError(f"{where}: an entry needs `operator` and `fault`")
    kind = KINDS[str(entry["fault"])]
    unknown = set(entry) - _WHEN - set(kind.parameters)
    if unknown:
        raise InputError(
            f"{where}: {kind.code} has no {', '.join(sorted(map(str, unknown)))}",
            allowed=", ".join(sorted(_WHEN | set(kind.parameters))),
        )
    dtype = entry.get("dtype")
    if dtype is not None and dtype not in _DTYPES:
        raise InputError(f"{where}: dtype {dtype!r} is not known", allowed=", ".join(_DTYPES))
    return Fault(
        operators=tuple(_operator(name, where) for name in _listed(entry["operator"])),
        kind=kind,
        parameters={name: _number(entry.get(name, value), name, where) for name, value in kind.parameters.items()},
        dtype=getattr(torch, dtype) if dtype else None,
        ranks=tuple(int(_number(rank, "rank", where)) for rank in _listed(entry.get("rank", []))),
        after=int(_number(entry.get("after", 0), "after", where)),
        every=max(1, int(_number(entry.get("every", 1), "every", where))),
    )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _number(value: Any, name: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: {name} must be a number, not {value!r}")
    return float(value)


def _operator(name: Any, where: str) -> str:
    known = base_names()
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=3)
        raise InputError(
            f"{where}: ATen has no operator {name!r} with a kernel of its own",
            allowed="names such as mm, addmm, gelu, native_layer_norm",
            todo=f"write {' or '.join(near)}" if near else "see the operators of a profile of the program",
        )
    return str(name)


def installed() -> list[Fault]:
    """The faults that are on."""
    return list(_INSTALLED)


def install_faults(faults: list[Fault]) -> None:
    """Let the faults happen from now on; an earlier profile is forgotten."""
    REPLACEMENTS.clear()
    _INSTALLED[:] = faults
    by_operator: dict[str, list[Fault]] = {}
    for fault in faults:
        for name in fault.operators:
            by_operator.setdefault(name, []).append(fault)
    REPLACEMENTS.update({name: _replacement(found) for name, found in by_operator.items()})


def _replacement(faults: list[Fault]) -> Callable[..., Any]:
    def replacement(op: Any, index: int, *args: Any, **kwargs: Any) -> Any:
        del index

        def kernel(*values: Any, **named: Any) -> Any:
            return redispatched(op, *values, **named)

        fault = next((fault for fault in faults if fault.happens(args)), None)
        if fault is None:
            return kernel(*args, **kwargs)
        fault.changed += 1
        call = Call(args=args, kwargs=kwargs, kernel=kernel, parameters=fault.parameters, memory=fault.memory)
        return fault.kind.apply(call)

    return replacement
