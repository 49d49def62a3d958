"""Run a program on emulated NPUs: a torch device called npu that computes on this computer's CPU.

Inside, `import torch_npu` works, device="npu:0" works, the backend hccl works, and what the chip cannot do is refused
or falls back as there. It shows whether a migrated program runs and computes the same; its times say nothing about an
NPU. No accelerator, driver or compiler is needed; torch 2.10 or newer is.
"""

from __future__ import annotations

import argparse

from trainwright.cli.command import Command
from trainwright.cli.options import add_outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.usage = "trainwright emulate [OPTIONS] -- COMMAND ARGUMENTS"
    parser.add_argument("--devices", type=int, default=8, metavar="N", help="how many NPUs there are (default 8)")
    parser.add_argument("--memory", type=float, metavar="GiB", help="memory of each (default: as the chip has)")
    parser.add_argument("--chip", default="a2", metavar="CHIP", help="a910a, a2 (default) or a3")
    parser.add_argument("--mode", choices=("inf-nan", "saturate"), help="what overflow does (default: as on the chip)")
    parser.add_argument("--fault", metavar="PROFILE", help="make operators wrong: a YAML file, or demo")
    add_outputs(parser)
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run")


def run(options: argparse.Namespace) -> int:
    """Run the program, then say what was particular."""
    import tempfile
    from pathlib import Path

    from trainwright.cli.output import emit
    from trainwright.cli.streams import say
    from trainwright.core.errors import InputError
    from trainwright.emulate.chip import CHIPS
    from trainwright.emulate.launch import run as run_program
    from trainwright.emulate.records import result_of
    from trainwright.report.renderer import Page

    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        raise InputError("no program was given", todo="write it after --: trainwright emulate -- python train.py")
    chip = CHIPS[options.chip]
    memory = chip.memory_gib if options.memory is None else options.memory
    say(
        f"EMULATED: {options.devices} x {chip.name}, {memory:g} GiB each, computed on this CPU; "
        "times say nothing about an NPU"
    )
    with tempfile.TemporaryDirectory(prefix="trainwright-emulate-") as records:
        settings = {
            "devices": options.devices,
            "memory_gib": options.memory,
            "chip": options.chip,
            "mode": options.mode,
            "fault": options.fault,
            "records": records,
        }
        code = run_program(program, settings, to_stderr=options.json)
        result = result_of(Path(records))
    page = Page(
        command="emulate",
        title="Emulated run",
        subtitle=f"{' '.join(program)}: exit code {code}; EMULATED {options.devices} x {chip.name}",
        result=result,
    )
    emit(page, options)
    return code


COMMAND = Command(
    code="emulate",
    summary="run a program on emulated NPUs, on any computer",
    description=__doc__ or "",
    examples=(
        "trainwright emulate -- python train.py --steps 10",
        "trainwright emulate --devices 2 -- torchrun --nproc-per-node 2 train.py",
        "trainwright emulate --chip a910a --memory 16 -- python train.py",
        "trainwright emulate --fault demo -- python train.py",
    ),
    add_arguments=add_arguments,
    run=run,
    order=30,
)
