"""Find everything that ties a project to CUDA, rewrite what can be rewritten, and report the rest.

Reads Python, notebooks, C++ and CUDA, shell, Docker, CI, requirements and configuration files. Nothing is written
unless asked: --diff prints the edits, --out DIR writes a migrated copy of the whole project, --write edits it in place.
Safe edits are applied, unsafe ones only with --unsafe; every byte outside an edit stays as it is.

`trainwright migrate explain CODE` tells what a finding means, `trainwright migrate api NAME` what the NPU supports.
For a folder called explain or api, write ./explain. A comment `# trainwright: ignore[CODE]` silences a line,
`# trainwright: ignore-file` a file. Defaults can stand in pyproject.toml under [tool.trainwright.migrate].
Ends with 1 when --check is given and work remains.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainwright.cli.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    from trainwright.cli.migrate_options import add_migrate_options

    add_migrate_options(parser)


def run(options: argparse.Namespace) -> int:
    """Scan, deliver and show; or explain."""
    from trainwright.core.errors import InputError

    if options.target in ("explain", "api"):
        if options.subject is None:
            what = "a rule, such as TW101" if options.target == "explain" else "a name, such as torch.cuda.synchronize"
            raise InputError(
                f"migrate {options.target} needs {what}",
                todo=f"add it; for a folder of that name, write ./{options.target}",
            )
        from trainwright.cli.migrate_knowledge import explain, show_api

        return explain(options) if options.target == "explain" else show_api(options)
    if options.subject is not None:
        raise InputError(
            f"two paths given: {options.target} and {options.subject}",
            allowed="one folder or file",
            todo="migrate the folder that holds both",
        )
    from trainwright.cli.migrate_run import migrate

    return migrate(Path(options.target), options)


COMMAND = Command(
    code="migrate",
    summary="rewrite a CUDA project for the NPU, and report what needs a person",
    description=__doc__ or "",
    examples=(
        "trainwright migrate ./project",
        "trainwright migrate ./project --diff",
        "trainwright migrate ./project --out ./project_npu --report report.html",
        "trainwright migrate ./project --write --unsafe --style agnostic",
        "trainwright migrate ./project --check --report findings.sarif",
        "trainwright migrate explain TW301",
        "trainwright migrate api torch.cuda.synchronize --torch 2.8 --soc A3",
    ),
    add_arguments=add_arguments,
    run=run,
    order=5,
)
