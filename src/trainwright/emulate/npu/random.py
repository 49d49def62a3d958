"""``torch.npu`` random state. The devices draw from the CPU's generator, so that equal seeds give the CPU's numbers."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from trainwright.emulate.device import STATE
from trainwright.emulate.npu.devices import Device, index_of


def manual_seed(seed: int) -> None:
    """Seed the current device."""
    torch.default_generator.manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed all devices; `torch.manual_seed` calls it."""
    torch.default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the current device at random; the seed."""
    return torch.default_generator.seed()


def seed_all() -> int:
    """Seed all devices at random; the seed."""
    return torch.default_generator.seed()


def initial_seed() -> int:
    """The seed that was given last."""
    return torch.default_generator.initial_seed()


def get_rng_state(device: Device = "npu") -> Tensor:
    """State of a device's generator, a byte tensor on the CPU."""
    index_of(device)
    return torch.default_generator.get_state()


def set_rng_state(new_state: Tensor, device: Device = "npu") -> None:
    """Restore what `get_rng_state` gave."""
    index_of(device)
    torch.default_generator.set_state(new_state.cpu())


def get_rng_state_all() -> list[Tensor]:
    """The states of all devices."""
    return [get_rng_state(index) for index in range(STATE.count)]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Restore what `get_rng_state_all` gave."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


class Generator(torch.Generator):
    """A generator for any device; for an emulated one it draws on the CPU and says ``npu``."""

    def __new__(cls, device: torch.device | str = "cpu") -> Generator:
        wanted = torch.device(device)
        made = super().__new__(cls, "cpu" if wanted.type == "npu" else wanted)
        made._stands_for = wanted
        return made

    @property
    def device(self) -> torch.device:
        """The device that the generator was made for."""
        return self._stands_for if self._stands_for.type == "npu" else super().device

    _stands_for = torch.device("cpu")
