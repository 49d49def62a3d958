"""Hand the edits over: as a diff, as a migrated copy of the project, or in place.

Nothing is ever half-written. A copy is made under a temporary name and takes its place when it is whole; in place,
all new files are written beside the old ones first, and when one cannot be put in its place those before it go back.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trainwright.core.errors import InputError, OutputError
from trainwright.migrate.diff import unified
from trainwright.migrate.reading import digest, language_of, read_bytes
from trainwright.migrate.scan import FileScan, Scan
from trainwright.migrate.source import Source
from trainwright.migrate.splice import spliced
from trainwright.migrate.walk import git_lines

_MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A file of the project with its new bytes."""

    path: str
    data: bytes


def diff(scan: Scan, *, unsafe: bool = False) -> Iterator[str]:
    """The unified diff, file by file.

    Raises:
        InputError: a file is not as it was when it was scanned.
    """
    for file in scan.changed(unsafe=unsafe):
        text = unified(_source(scan, file), file.edits(unsafe=unsafe))
        if text:
            yield text


def changes(scan: Scan, *, unsafe: bool = False) -> Iterator[Changed]:
    """Every file that changes, with its new bytes.

    Raises:
        InputError: a file is not as it was when it was scanned.
    """
    for file in scan.changed(unsafe=unsafe):
        source = _source(scan, file)
        data = spliced(source, file.edits(unsafe=unsafe))
        if data != source.data:
            yield Changed(path=file.path, data=data)


def write_in_place(scan: Scan, *, unsafe: bool = False, force: bool = False) -> tuple[str, ...]:
    """Edit the project where it is, and return the files changed.

    Raises:
        InputError: the files are not safe in git and `force` is not set, or a file changed since the scan.
        OutputError: a file cannot be written; then all files are as they were.
    """
    if not force:
        _check_clean(scan)
    staged: list[tuple[Path, Path, bytes]] = []
    try:
        for change in changes(scan, unsafe=unsafe):
            target = scan.root / change.path
            staged.append((target, _beside(target), read_bytes(scan.root, change.path)))
            _write_like(staged[-1][1], change.data, target)
        _put(staged)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"cannot write {error.filename or scan.root}: {reason}; no file was changed",
            todo="make room and permissions, or use --out",
        ) from error
    finally:
        for _, new, _ in staged:
            new.unlink(missing_ok=True)
    return tuple(str(target.relative_to(scan.root)) for target, _, _ in staged)


def _put(staged: Sequence[tuple[Path, Path, bytes]]) -> None:
    """Put every new file in its place; on any trouble, Ctrl-C included, the old contents come back."""
    done: list[tuple[Path, bytes]] = []
    try:
        for target, new, old in staged:
            done.append((target, old))
            new.replace(target)
    except BaseException:
        for target, old in done:
            back = _beside(target)
            with suppress(OSError):
                _write_like(back, old, target)
                back.replace(target)
        raise


def _beside(target: Path) -> Path:
    return target.with_name(f".trainwright.{secrets.token_hex(8)}.part")


def _write_like(path: Path, data: bytes, model: Path) -> None:
    """A new file with the mode and, where we may, the owner of another."""
    status = model.stat()
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        with suppress(OSError):
            os.fchown(file.fileno(), status.st_uid, status.st_gid)
        os.fchmod(file.fileno(), status.st_mode & 0o7777)
        os.fsync(file.fileno())


def _check_clean(scan: Scan) -> None:
    """Refuse to edit what git could not give back."""
    where = scan.only or "."
    entries = git_lines(scan.root, "status", "--porcelain", "-z", "--untracked-files=normal", "--", where)
    tracked = git_lines(scan.root, "ls-files", "-z", "--", where)
    if entries is None or not tracked:
        raise InputError(
            f"{scan.root / scan.only} is not in a git repository, so edits could not be undone",
            todo="use --out DIR to write a copy, commit it first, or insist with --force",
        )
    if entries:
        names = [entry[3:] for entry in entries[:_MOST_NAMED]]
        more = f" and {len(entries) - len(names):,} more" if len(entries) > len(names) else ""
        raise InputError(
            f"{scan.root} has changes that are not committed: {', '.join(names)}{more}",
            todo="commit or stash them, use --out DIR to write a copy, or insist with --force",
        )


def _source(scan: Scan, file: FileScan) -> Source:
    """The file as it was scanned."""
    try:
        data = read_bytes(scan.root, file.path)
    except OSError as error:
        raise InputError(f"cannot read {file.path} any more: {error.strerror}", todo="run the command again") from error
    language = language_of(file.path, data)
    if digest(data) != file.sha or language is None:
        raise InputError(f"{file.path} changed while it was migrated", todo="run the command again")
    return language.read(file.path, data)
