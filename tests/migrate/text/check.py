"""Scan a text as the file it would be, and apply what may be applied."""

from __future__ import annotations

from trainwright.migrate.options import Options, Style
from trainwright.migrate.project import Argument, Project
from trainwright.migrate.reading import language_of
from trainwright.migrate.remark import Remark
from trainwright.migrate.splice import compatible, spliced

#: A project whose code declares ``--device`` and ``--backend``.
DECLARED = Project(
    device_names=frozenset({"device"}),
    backend_names=frozenset({"backend"}),
    arguments={"--dist-backend": Argument(option="--dist-backend", dest="dist_backend")},
)


def scanned(
    path: str, text: str | bytes, *, number: str = "", project: Project = DECLARED, style: Style = "npu"
) -> list[Remark]:
    """The remarks on a file, of one rule when a number is given."""
    data = text.encode() if isinstance(text, str) else text
    language = language_of(path, data[:8192])
    assert language is not None, f"no language reads {path}"
    source = language.read(path, data)
    found = language.scan(source, project, Options(style=style))
    return [remark for remark in found if remark.number.startswith(number)]


def migrated(
    path: str, text: str | bytes, *, number: str = "", unsafe: bool = False, project: Project = DECLARED
) -> str:
    """The file with the safe edits, and with the unsafe ones when asked."""
    data = text.encode() if isinstance(text, str) else text
    language = language_of(path, data[:8192])
    assert language is not None, f"no language reads {path}"
    remarks = scanned(path, data, number=number, project=project)
    wanted = [remark for remark in remarks if remark.safety == "safe" or unsafe]
    edits = [edit for remark in compatible(wanted) for edit in remark.edits]
    return spliced(language.read(path, data), edits).decode()


def outcomes(path: str, text: str | bytes, number: str, project: Project = DECLARED) -> list[tuple[str, str]]:
    """(outcome, name) of the remarks of one rule."""
    return [(remark.outcome, remark.name) for remark in scanned(path, text, number=number, project=project)]
