"""Run the backward pass so that several devices and errors in hooks work.

torch's engine keeps a queue for each device of a type and asks the guard how many there are; a guard in Python always
answers one. It runs in the caller's thread here, where it needs no queues. Errors that the guard had to set aside
(see `registration.Guard`) are raised when the engine comes back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import graph

from trainwright.emulate.registration import Guard


def install_engine() -> None:
    """Replace the one function through which ``backward`` and ``autograd.grad`` enter the engine."""
    inner = graph._engine_run_backward

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        waiting = len(Guard.pending)
        try:
            with torch.autograd.set_multithreading_enabled(False):
                result = inner(*args, **kwargs)
        except BaseException as error:
            raise _first_since(waiting, error) from None
        if len(Guard.pending) > waiting:
            raise _first_since(waiting, None)
        return result

    for module in (graph, torch.autograd):
        if getattr(module, "_engine_run_backward", None) is inner:
            module._engine_run_backward = run_backward


def _first_since(waiting: int, other: BaseException | None) -> BaseException:
    found = Guard.pending[waiting:]
    del Guard.pending[waiting:]
    if found:
        return found[0]
    assert other is not None
    return other
