"""Run by Python before the program, because `trainwright emulate` put this folder first: turn emulation on in time.

The interpreter imports one module of this name only, so the one that it would have taken otherwise is run here, too.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs every start of Python


def _run_the_other() -> None:
    paths = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def _start() -> None:
    try:
        from trainwright.emulate import bootstrap
    except ImportError:
        # The Python of the program has no trainwright of its own: take the one that started it, and nothing else of it.
        sys.path.append(os.environ["TRAINWRIGHT_EMULATE_SOURCE"])
        from trainwright.emulate import bootstrap
    bootstrap.start()


_run_the_other()
if os.environ.get("TRAINWRIGHT_EMULATE"):
    _start()
