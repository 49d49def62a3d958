"""Turn emulation on in this process: check, configure, register, patch. Once on, it stays on until the process ends."""

from __future__ import annotations

import sys

from trainwright.core.errors import InputError
from trainwright.emulate.chip import CHIPS
from trainwright.emulate.device import GIB, STATE, configure
from trainwright.emulate.importing import install_finder, refuse_a_real_one


def install(
    *,
    devices: int = 8,
    memory_gib: float | None = None,
    chip: str = "a2",
    mode: str | None = None,
    fault: str | None = None,
) -> None:
    """Make ``npu`` a device of this process and ``torch_npu`` importable.

    Args:
        devices: how many there are, 1 to 64.
        memory_gib: memory of each; what the chip has if None.
        chip: a code of ``trainwright.emulate.chips``.
        mode: ``inf-nan`` or ``saturate``: what overflow does; what the chip does if None.
        fault: a fault profile: a file, or the name of one that comes with the package.

    Raises:
        InputError: a value is not allowed, a real torch_npu is installed, or this torch is too old or unknown.
    """
    profile = CHIPS[chip]
    if mode not in (None, "inf-nan", "saturate"):
        raise InputError(f"overflow mode {mode!r} is not known", allowed="inf-nan, saturate")
    if mode == "inf-nan" and not profile.inf_nan:
        raise InputError(f"chip {chip} has no Inf and NaN mode: its overflow saturates", todo="leave --mode out")
    refuse_a_real_one()
    saturates = mode == "saturate" if mode else not profile.inf_nan
    memory = round((profile.memory_gib if memory_gib is None else memory_gib) * GIB)
    first = not STATE.count
    configure(devices=devices, memory_bytes=memory, chip=profile, saturates=saturates)
    if first:
        _install_once()
    from trainwright.emulate.fault_profile import install_faults, read_profile
    from trainwright.emulate.overflow import install_overflow

    install_faults(read_profile(fault) if fault else [])
    install_overflow()


def _install_once() -> None:
    import torch

    if not hasattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend"):
        raise InputError(
            f"torch {torch.__version__} cannot have a device written in Python",
            allowed="torch 2.10 and newer",
            todo="install a newer torch in the environment of the program",
        )
    from trainwright.emulate import npu
    from trainwright.emulate.autocast import install_autocast
    from trainwright.emulate.collectives import install_collectives
    from trainwright.emulate.engine import install_engine
    from trainwright.emulate.fused import install_fused
    from trainwright.emulate.patches import install_patches
    from trainwright.emulate.registration import register

    install_finder()
    sys.modules["torch.npu"] = npu
    register(npu)
    install_engine()
    install_autocast()
    install_fused()
    install_patches()
    install_collectives()
