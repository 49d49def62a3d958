"""Register the device with torch: name, guard, hooks and kernels. Done once in a process; torch cannot undo it."""

from __future__ import annotations

import ctypes
import warnings
from types import ModuleType
from typing import Any

import torch
from torch.utils import backend_registration

from trainwright.emulate import composed, dispatch, transfer
from trainwright.emulate.pinned import install_pinned
from trainwright.emulate.relabel import probe

#: Registrations live as long as these objects.
_LIBRARIES: list[Any] = []
#: Raises the Python error that is set, if one is: ctypes looks after every call of the interpreter's functions.
_raise_pending = ctypes.pythonapi.PyErr_Occurred


class Guard(torch._C._acc.DeviceGuard):
    """What torch's C++ asks when it changes device."""

    #: Errors that were on their way when C++ asked; `trainwright.emulate.engine` raises them again.
    pending: list[BaseException] = []  # noqa: RUF012 - one list for the process is what is meant

    def type_(self) -> Any:
        """The device type.

        C++ asks in destructors, too, that must not raise, also while the error of a hook is on its way. There the
        error is set aside, or the process would abort.
        """
        try:
            _raise_pending()
        except BaseException as error:
            Guard.pending.append(error)
        return _DEVICE_TYPE


class Hooks(torch._C._acc.PrivateUse1Hooks):
    """What torch's C++ asks about the device type."""

    def is_available(self) -> bool:
        """Yes."""
        return True

    def has_primary_context(self, dev_id: int) -> bool:
        """Yes."""
        return True

    def is_built(self) -> bool:
        """Yes."""
        return True


_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1


def register(module: ModuleType) -> None:
    """Make ``npu`` a device of this process; `module` answers as ``torch.npu``."""
    hooks = Hooks()
    backend_registration._setup_privateuseone_for_python_backend("npu", module, hooks, Guard())
    probe()
    install_pinned(hooks)
    library = torch.library.Library("aten", "IMPL")
    _LIBRARIES.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # replacing a kernel of torch is announced otherwise
        for name in dispatch.names():
            library.impl(name, dispatch.kernel_of(name), "PrivateUse1")
        for name, key, kernel in (*transfer.KERNELS, *composed.KERNELS):
            library.impl(name, kernel, key, allow_override=True)
