"""Find the files of a project: in a fixed order, without what tools and version control put beside the sources.

Links are never followed, so nothing outside of the root is read. What git ignores is not part of the project to scan.
"""

from __future__ import annotations

import fnmatch
import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainwright.core.errors import InputError
from trainwright.core.result import Quality

#: Folders that are not part of a project, wherever they stand: version control, caches, environments.
APART = frozenset({
    ".git", ".hg", ".svn", ".bzr", "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".eggs", ".mypy_cache",
    ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints",
})  # fmt: skip
#: Folders that builds make; sources all the same when git tracks them or they are Python packages.
_BUILT = ("build", "dist")
#: Git never runs a program that the configuration of the project names, and never writes to its index.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotepath=false")


@dataclass(frozen=True, kw_only=True)
class Found:
    """One file: its path below the root, with ``/``, and its size."""

    path: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The files under a root, sorted by path, and what could not be taken. `only`: the root is this one file."""

    root: Path
    files: tuple[Found, ...]
    notes: tuple[Quality, ...] = ()
    only: str = ""


def walk(path: Path, *, exclude: Sequence[str] = ()) -> Walk:
    """The files of a project folder, or one file.

    `exclude` takes globs over the path below the root (``tests/*``, ``*.ipynb``) or a folder (``third_party``).

    Raises:
        InputError: there is no such file or folder, or it cannot be read.
    """
    if not path.exists():
        raise InputError(f"there is no {path}", allowed="a project folder or a source file", todo="check the path")
    resolved = path.resolve()
    if not resolved.is_dir():
        if not resolved.is_file():
            raise InputError(f"{path} is not a regular file", allowed="a project folder or a source file")
        found = Found(path=resolved.name, size_bytes=resolved.stat().st_size)
        return Walk(root=resolved.parent, files=(found,), only=resolved.name)
    try:
        next(os.scandir(resolved), None)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", todo="check its permissions") from error
    notes: list[Quality] = []
    files = sorted(_files(resolved, exclude, notes), key=lambda found: found.path)
    return Walk(root=resolved, files=tuple(files), notes=tuple(notes))


def git_lines(root: Path, *arguments: str) -> list[str] | None:
    """The NUL-separated answer of a git command in a folder; None when it is no git tree or there is no git."""
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            [*_GIT, *arguments], cwd=root, env=environment, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return [os.fsdecode(part) for part in done.stdout.split(b"\0") if part] if done.returncode == 0 else None


def is_apart(entry: os.DirEntry[str]) -> bool:
    """Whether a folder is not part of the project: version control, caches, environments."""
    return entry.name in APART or Path(entry.path, "pyvenv.cfg").exists()


def excluded(path: str, globs: Sequence[str]) -> bool:
    """Whether a path below the root is excluded: by a glob, or because a folder above it is."""
    parts = path.split("/")
    ends = ["/".join(parts[: at + 1]) for at in range(len(parts))]
    patterns = [glob.strip("/").removeprefix("./") for glob in globs]
    return any(fnmatch.fnmatchcase(end, pattern) for end in ends for pattern in patterns) or any(
        fnmatch.fnmatchcase(part, pattern) for part in parts for pattern in patterns if "/" not in pattern
    )


def _files(root: Path, exclude: Sequence[str], notes: list[Quality]) -> Iterator[Found]:
    ignored = git_lines(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    tracked_here = ignored is not None
    skipped = {path.rstrip("/") for path in ignored or ()}
    folders = [""]
    while folders:
        below = folders.pop()
        try:
            entries = sorted(os.scandir(root / below), key=lambda entry: entry.name)
        except OSError as error:
            notes.append(Quality(code="unreadable-folder", count=1, example=error.strerror or "", file=below))
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_symlink() or path in skipped or excluded(path, exclude):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not is_apart(entry) and not _is_installed(entry) and (tracked_here or not _is_built(entry)):
                    folders.append(path)
            elif (found := _file(entry, path, notes)) is not None:
                yield found


def _is_installed(entry: os.DirEntry[str]) -> bool:
    """Libraries and metadata that an installation put there: no sources of the project."""
    return entry.name == "site-packages" or entry.name.endswith(".egg-info")


def _is_built(entry: os.DirEntry[str]) -> bool:
    return entry.name in _BUILT and not Path(entry.path, "__init__.py").exists()


def _file(entry: os.DirEntry[str], path: str, notes: list[Quality]) -> Found | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:  # gone between listing and looking
        notes.append(Quality(code="unreadable-file", count=1, example=error.strerror or "", file=path))
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return Found(path=path, size_bytes=status.st_size)
