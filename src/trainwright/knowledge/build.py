"""Remake the data files of this package from their sources: ``python -m trainwright.knowledge.build``.

``--facts DIR`` holds ``npu_api_support.tsv``, ``npu_registered_ops.tsv`` and ``torch_npu_npu_surface.txt``.
``--torch-aliases`` asks an installed torch for its aliases and operators, ``--torch-npu WHEEL`` reads the names
and operators of torch_npu. `libraries.tsv` and `environment.tsv` are written by hand and are not touched.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from trainwright.core.errors import InputError, TrainwrightError
from trainwright.knowledge import npu_wheel, support_table, torch_names
from trainwright.knowledge.tables import FOLDER, lines_text, table_text

DATA = Path(__file__).with_name(FOLDER)
ALIAS_HEADER = ("alias", "api")
ATEN_HEADER = ("operator", "kind")


def facts_files(facts: Path) -> dict[str, str]:
    """Name of a data file -> its text, for the files that come from the folder of facts."""
    header, rows = _table(facts / "npu_api_support.tsv")
    operators, overloads = _table(facts / "npu_registered_ops.tsv")
    surface = _read(facts / "torch_npu_npu_surface.txt").split()
    return {
        "api_support.tsv": table_text(header, support_table.merged_rows(header, rows)),
        "registered_ops.tsv": table_text(operators, overloads),
        "npu_surface.txt": lines_text(surface),
    }


def torch_files(python: str, api_support: str) -> dict[str, str]:
    """The same for the files that come from torch; `api_support` is the text of the support table kept here."""
    names = torch_names.ask_torch(python)
    listed = [line.split("\t", 1)[0] for line in api_support.splitlines()[1:]]
    return {
        "aliases.tsv": table_text(ALIAS_HEADER, torch_names.aliases(names, listed)),
        "aten_operators.tsv": table_text(ATEN_HEADER, names.aten.items()),
    }


def wheel_files(wheel: Path) -> dict[str, str]:
    """The same for the files that come from the wheel of torch_npu."""
    try:
        names, operators = npu_wheel.wheel_names(wheel), npu_wheel.wheel_operators(wheel)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{wheel} is no wheel that can be read: {error}") from error
    return {
        "npu_names.txt": lines_text(names),
        "wheel_operators.tsv": table_text(("kind", "overload"), operators),
    }


def _table(path: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    header, *rows = (tuple(line.split("\t")) for line in _read(path).splitlines())
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path} is not a table: rows differ in their number of cells")
    return header, rows


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error}", todo="give the folder that holds the facts with --facts DIR"
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data files; the exit code of the program."""
    parser = argparse.ArgumentParser(prog="python -m trainwright.knowledge.build", description=__doc__)
    parser.add_argument("--facts", type=Path, required=True, metavar="DIR", help="folder with the published tables")
    parser.add_argument("--torch-aliases", action="store_true", help="ask torch for aliases and operators, too")
    parser.add_argument("--torch-python", default=sys.executable, metavar="PATH", help="interpreter that has torch")
    parser.add_argument("--torch-npu", type=Path, metavar="WHEEL", help="read names and operators of torch_npu")
    parser.add_argument("--out", type=Path, default=DATA, metavar="DIR", help="where to write (default: the package)")
    given = parser.parse_args(arguments)
    try:
        made = facts_files(given.facts)
        if given.torch_aliases:
            made |= torch_files(given.torch_python, made["api_support.tsv"])
        if given.torch_npu:
            made |= wheel_files(given.torch_npu)
    except TrainwrightError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    given.out.mkdir(parents=True, exist_ok=True)
    for name, text in sorted(made.items()):
        (given.out / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{given.out / name}: {text.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
