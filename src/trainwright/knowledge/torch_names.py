"""What torch itself says: names that are the same object, and which ATen operators need a kernel of the device.

Torch is asked in a process of its own, so that nothing else here needs it installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from trainwright.core.errors import InputError

#: Runs inside the interpreter that has torch. Prints {"version", "groups": [[name, ...]], "aten": [[base, kind]]}.
SCRIPT = """
import importlib, inspect, json, pkgutil, sys, warnings
warnings.simplefilter("ignore")
torch = importlib.import_module("torch")
SKIPPED = ("torch.testing", "torch.utils.benchmark", "torch.utils.bottleneck", "torch.utils.tensorboard",
           "torch.contrib", "torch.include", "torch.lib", "torch.onnx.ops", "torch.ao.pruning", "torch.ao.ns")
def public(name):
    return not any(part.startswith("_") for part in name.split(".")) and not name.startswith(SKIPPED)
def walk(package):
    yield package
    for info in pkgutil.iter_modules(getattr(package, "__path__", [])):
        name = package.__name__ + "." + info.name
        if public(name) and info.name not in ("__main__", "run"):
            try:
                module = importlib.import_module(name)
            except BaseException:
                continue
            yield from walk(module)
groups = {}
keep = []
for module in list(walk(torch)):
    for attribute, value in sorted(vars(module).items()):
        if attribute.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        if not str(getattr(value, "__module__", None) or "torch").startswith("torch"):
            continue
        keep.append(value)
        groups.setdefault(id(value), []).append(module.__name__ + "." + attribute)
bases = {}
for operator in torch._C._dispatch_get_all_op_names():
    if not operator.startswith("aten::"):
        continue
    base = operator[6:].split(".")[0]
    own = torch._C._dispatch_has_kernel_for_dispatch_key(operator, "CPU")
    bases[base] = bases.get(base, False) or own
json.dump({
    "version": torch.__version__.split("+")[0],
    "groups": sorted(sorted(names) for names in groups.values() if len(names) > 1),
    "aten": sorted([base, "kernel" if own else "composite"] for base, own in bases.items()),
}, sys.stdout)
"""


@dataclass(frozen=True, kw_only=True)
class TorchNames:
    """What one torch release says about its own names.

    Args:
        version: of torch.
        groups: public dotted names that stand for one and the same object.
        aten: name of an ATen operator -> ``kernel`` (a device must bring one) or ``composite`` (made of others).
    """

    version: str
    groups: tuple[tuple[str, ...], ...]
    aten: dict[str, str]


def ask_torch(python: str = sys.executable) -> TorchNames:
    """Ask the torch that `python` imports.

    Raises:
        InputError: that interpreter has no working torch.
    """
    run = subprocess.run([python, "-c", SCRIPT], capture_output=True, text=True, check=False)
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError(
            f"torch could not be asked for its names with {python}: {last}",
            todo="give the interpreter of an environment that has torch: --torch-python PATH",
        )
    told = json.loads(run.stdout)
    return TorchNames(
        version=told["version"], groups=tuple(tuple(names) for names in told["groups"]), aten=dict(told["aten"])
    )


def aliases(names: TorchNames, listed: Collection[str]) -> list[tuple[str, str]]:
    """``(alias, listed name)`` for every name the support table lacks but for which it lists the same object."""
    known = set(listed)
    return sorted(_aliases(names.groups, known))


def _aliases(groups: Iterable[tuple[str, ...]], known: set[str]) -> Iterable[tuple[str, str]]:
    for group in groups:
        targets = sorted((name for name in group if name in known), key=lambda name: (name.count("."), len(name), name))
        if targets:
            yield from ((name, targets[0]) for name in group if name not in known)
