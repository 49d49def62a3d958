"""A migrated copy of a whole project: every file, mode and empty folder, the changed files in their new form.

Left out are version control, caches and environments (see `walk`), links that lead out of the project, and what is no
file. A list of what was written is kept in our own cache folder, so that ``--force`` replaces a copy of ours only, and
only while nothing was added to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainwright.core.errors import InputError, OutputError
from trainwright.core.result import Quality
from trainwright.core.settings import cache_dir
from trainwright.migrate.deliver import changes
from trainwright.migrate.scan import Scan
from trainwright.migrate.walk import is_apart

_FORCE = "choose another name, or replace it with --force"


@dataclass(frozen=True, kw_only=True)
class Copied:
    """What was written: the files that changed, how many were copied in all, and what was left out."""

    changed: tuple[str, ...]
    files: int
    notes: tuple[Quality, ...]


def write_copy(scan: Scan, out: Path, *, unsafe: bool = False, force: bool = False) -> Copied:
    """Write a copy of the project with the edits applied.

    Raises:
        InputError: `out` is inside the project or holds it, or a file changed since the scan.
        OutputError: `out` is not empty and not an untouched copy of ours that `force` may replace, or cannot be
            written.
    """
    target = out.resolve()
    _check_apart(scan, out, target)
    staged = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        _check_free(out, target, force)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            copied = _fill(scan, staged, unsafe)
            _swap(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        _remember(target)
    except OSError as error:
        raise OutputError(
            f"cannot write {out}: {error.strerror or error}", todo="make room, or choose a folder you may write to"
        ) from error
    return copied


def _check_apart(scan: Scan, out: Path, target: Path) -> None:
    project = scan.root / scan.only if scan.only else scan.root
    if target == project or target.is_relative_to(project) or project.is_relative_to(target):
        raise InputError(
            f"--out {out} and the project {project} lie within each other",
            allowed="a new or empty folder beside the project",
            todo="choose another folder",
        )


def _fill(scan: Scan, staged: Path, unsafe: bool) -> Copied:
    notes: list[Quality] = []
    staged.mkdir()
    if scan.only:
        shutil.copy2(scan.root / scan.only, staged / scan.only)
        count = 1
    else:
        count = _copy_folder(scan.root, scan.root, staged, notes)
    changed = []
    for change in changes(scan, unsafe=unsafe):
        path = staged / change.path
        mode = stat.S_IMODE(path.stat().st_mode)
        path.unlink()
        with path.open("xb") as file:
            file.write(change.data)
            os.fchmod(file.fileno(), mode)
        changed.append(change.path)
    _copy_modes(scan, staged)
    return Copied(changed=tuple(changed), files=count, notes=tuple(notes))


def _copy_folder(root: Path, folder: Path, target: Path, notes: list[Quality]) -> int:
    """Copy what is in a folder; how many files."""
    count = 0
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path, new = Path(entry.path), target / entry.name
        below = str(path.relative_to(root))
        if entry.is_symlink():
            if _stays_inside(root, path):
                new.symlink_to(path.readlink())
            else:
                notes.append(Quality(code="link-not-copied", count=1, example=str(path.readlink()), file=below))
        elif entry.is_dir(follow_symlinks=False):
            if not is_apart(entry):
                new.mkdir()
                count += _copy_folder(root, path, new, notes)
        elif entry.is_file(follow_symlinks=False):
            try:
                shutil.copy2(path, new, follow_symlinks=False)
                count += 1
            except PermissionError as error:
                notes.append(Quality(code="file-not-copied", count=1, example=error.strerror or "", file=below))
    return count


def _copy_modes(scan: Scan, staged: Path) -> None:
    """Folders get their modes last: one we may not write to must be filled first."""
    if scan.only:
        return
    for path, folders, _ in os.walk(staged, topdown=False):
        for name in folders:
            new = Path(path, name)
            if not new.is_symlink():
                new.chmod(stat.S_IMODE((scan.root / new.relative_to(staged)).stat().st_mode) | stat.S_IRWXU)


def _stays_inside(root: Path, link: Path) -> bool:
    """Whether a link is relative and leads to a place inside the project, there or not."""
    to = link.readlink()
    if to.is_absolute():
        return False
    return Path(os.path.normpath(link.parent / to)).is_relative_to(root) and link.resolve().is_relative_to(root)


def _check_free(out: Path, target: Path, force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{out} is not a folder", allowed="a new or empty folder", todo="choose another name")
    present = set(_paths(target))
    if not present:
        return
    known = _known(target)
    if known is None:
        raise OutputError(
            f"{out} is not empty, and it is not a copy this command wrote",
            allowed="a new or empty folder",
            todo="choose another name",
        )
    if not force:
        raise OutputError(f"{out} exists", todo=_FORCE)
    added = sorted(present - set(known))
    if added:
        raise OutputError(
            f"{out} holds files that were added since it was written, first {added[0]}",
            todo="choose another name, or move them away",
        )


def _swap(staged: Path, target: Path) -> None:
    """Put the copy in its place; an older copy comes back when that fails."""
    if not target.exists() or not any(target.iterdir()):
        staged.replace(target)
        return
    old = staged.with_suffix(".old")
    target.replace(old)
    try:
        staged.replace(target)
    except BaseException:
        old.replace(target)
        raise
    try:
        shutil.rmtree(old, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(old, ignore_errors=True)
        raise


def _paths(folder: Path) -> Iterator[str]:
    """Everything in a folder that is not the cache of an interpreter, by its path below it."""
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *files):
            yield str(Path(path, name).relative_to(folder))


def _record(target: Path) -> Path:
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:32]
    return cache_dir() / "migrated" / f"{name}.json"


def _remember(target: Path) -> None:
    status = target.stat()
    record = {"device": status.st_dev, "inode": status.st_ino, "paths": sorted(_paths(target))}
    path = _record(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record), encoding="utf-8")
    except OSError:
        return  # the copy is fine; it can only not be replaced by --force later


def _known(target: Path) -> list[str] | None:
    """What we wrote at this place; None when the folder there is not ours."""
    try:
        record: Mapping[str, object] = json.loads(_record(target).read_text(encoding="utf-8"))
        status = target.stat()
        paths = record["paths"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    ours = (record.get("device"), record.get("inode")) == (status.st_dev, status.st_ino)
    return [str(path) for path in paths] if ours and isinstance(paths, list) else None
