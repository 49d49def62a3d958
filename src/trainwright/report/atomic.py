"""Write a file or a folder whole or not at all, and never over something that exists unless told to.

The new content is made under a temporary name in the same folder and takes its place in one step, so a reader, a full
disk or an interruption never leaves half a document.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from trainwright.core.errors import OutputError

_FORCE = "choose another name, or overwrite it with `--force`"


def write_file(path: Path, text: str, *, mark: str, force: bool = False) -> Path:
    """Write a text file in UTF-8; folders above it are made. A link is followed, never replaced.

    With `force`, a file that an earlier call wrote is replaced. It is known by `mark`, the text with which every file
    of its kind begins. An empty file holds nothing to lose; any other file is never replaced.

    Raises:
        OutputError: the file exists and `force` is not set, it is not one of ours, or it cannot be written.
    """
    assert mark, "a mark that every file carries is none"
    assert text.startswith(mark), "a file must begin with the mark by which it is known"
    with _explained(path):
        target = path.resolve()
        if target.exists():
            _check_file(path, target, mark, force)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _staged(target) as staged:
            _write(staged, text)
            staged.replace(target)
    return path


def _check_file(path: Path, target: Path, mark: str, force: bool) -> None:
    if not target.is_file():
        raise OutputError(f"{path} is not a file", allowed="a new or a regular file", todo="choose another name")
    if target.stat().st_size and not _begins_with(target, mark):
        raise OutputError(
            f"{path} exists and is not a report of trainwright: it is never overwritten",
            allowed="a new file, or one that trainwright wrote",
            todo="choose another name",
        )
    if not force:
        raise OutputError(f"{path} exists", todo=_FORCE)


def write_folder(path: Path, files: Mapping[str, str], *, mark: tuple[str, str], force: bool = False) -> list[Path]:
    """Write a folder of text files in UTF-8.

    With `force`, a folder that an earlier call wrote is replaced as a whole. It is known by `mark`: the name of a file
    in it and the text that file begins with. A folder with anything else in it is never replaced.

    Raises:
        OutputError: the folder is not empty and `force` is not set, it holds other things, or it cannot be written.
    """
    with _explained(path):
        target = path.resolve()
        if target.exists():
            _check_replaceable(path, target, mark, force)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _staged(target) as staged:
            staged.mkdir()
            for name, text in files.items():
                _write(staged / name, text)
            _swap(staged, target)
    return [path / name for name in files]


def _check_replaceable(path: Path, target: Path, mark: tuple[str, str], force: bool) -> None:
    if not target.is_dir():
        raise OutputError(f"{path} is not a folder", allowed="a new or an empty folder", todo="choose another name")
    entries = list(target.iterdir())
    if not entries:
        return
    name, beginning = mark
    suffix = Path(name).suffix
    ours = all(entry.suffix == suffix and entry.is_file() and not entry.is_symlink() for entry in entries)
    if not (ours and _begins_with(target / name, beginning)):
        raise OutputError(
            f"folder {path} holds files that are not ours",
            allowed="a new or an empty folder",
            todo="choose another name",
        )
    if not force:
        raise OutputError(f"folder {path} exists", todo=_FORCE)


def _begins_with(path: Path, text: str) -> bool:
    expected = text.encode()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(expected)) == expected


def _swap(staged: Path, target: Path) -> None:
    """Put a folder in the place of another; the old one comes back when that fails."""
    if not target.exists() or not any(target.iterdir()):
        staged.replace(target)
        return
    with _staged(target) as old:
        target.replace(old)
        try:
            staged.replace(target)
        except BaseException:
            old.replace(target)
            raise


def _write(path: Path, text: str) -> None:
    # Lone surrogates out of hostile names have no UTF-8 form.
    with path.open("xb") as file:
        file.write(text.encode("utf-8", errors="replace"))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _staged(target: Path) -> Iterator[Path]:
    """A temporary name beside `target`; what is left under it at the end is removed."""
    staged = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        yield staged
    finally:
        if staged.is_dir():
            shutil.rmtree(staged, ignore_errors=True)
        else:
            staged.unlink(missing_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:  # a name with a NUL in it; a link that leads to itself
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot write {path}: {reason}", todo="choose a folder you may write to") from error
