from __future__ import annotations

from pathlib import Path

import pytest

from trainwright.core.errors import OutputError
from trainwright.report import atomic
from trainwright.report.atomic import write_file, write_folder

MARK = ("mark.csv", "ours\n")


def _folder(path: Path, *, force: bool = False, **files: str) -> list[Path]:
    named = {f"{name}.csv": text for name, text in files.items()}
    return write_folder(path, {**named, "mark.csv": "ours\n1"}, mark=MARK, force=force)


def _names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def test_a_file_is_written_with_the_folders_above_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"

    assert write_file(path, "é\ud800\n", mark="é") == path
    assert path.read_bytes() == "é?\n".encode()
    assert _names(path.parent) == ["a.txt"]


def test_a_file_that_exists_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("our old")

    with pytest.raises(OutputError, match="--force"):
        write_file(path, "our new", mark="our ")
    assert path.read_text() == "our old"

    write_file(path, "our new", mark="our ", force=True)
    assert path.read_text() == "our new"


def test_a_file_of_others_is_never_replaced_and_an_empty_one_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("theirs")
    (tmp_path / "link").symlink_to(path)

    for target in (path, tmp_path / "link"):
        with pytest.raises(OutputError, match="never overwritten"):
            write_file(target, "our new", mark="our ", force=True)
    assert path.read_text() == "theirs"

    path.write_text("")
    write_file(path, "our new", mark="our ", force=True)
    assert path.read_text() == "our new"


@pytest.mark.parametrize("target", ["folder", "/dev/null"])
def test_what_is_no_file_is_never_replaced(tmp_path: Path, target: str) -> None:
    path = tmp_path / target
    if target == "folder":
        path.mkdir()

    with pytest.raises(OutputError, match="is not a file"):
        write_file(path, "new", mark="new", force=True)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")

    write_file(tmp_path / "link", "old and new", mark="old", force=True)

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "old and new"


@pytest.mark.parametrize("name", ["a/b", "x\0y", "n" * 300])
def test_a_name_that_cannot_be_is_explained(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").write_text("a file, not a folder")

    with pytest.raises(OutputError, match="cannot write"):
        write_file(tmp_path / name, "text", mark="text")
    assert _names(tmp_path) == ["a"]


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, "old and new", mark="old", force=True)
    with pytest.raises(KeyboardInterrupt):
        _folder(tmp_path / "folder", a="1")

    assert path.read_text() == "old"
    assert _names(tmp_path) == ["a.txt"]


def test_a_folder_is_written_whole_and_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"

    assert _folder(path, a="1", b="2") == [path / "a.csv", path / "b.csv", path / "mark.csv"]
    with pytest.raises(OutputError, match="--force"):
        _folder(path, c="3")
    assert _names(path) == ["a.csv", "b.csv", "mark.csv"]

    _folder(path, force=True, c="3")
    assert _names(path) == ["c.csv", "mark.csv"]
    assert _names(tmp_path) == ["out"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    _folder(tmp_path / "out", a="1")

    assert _names(tmp_path / "out") == ["a.csv", "mark.csv"]


@pytest.mark.parametrize("other", ["notes.txt", "mine.csv", "sub.csv/x", "mark.csv"])
def test_a_folder_with_other_things_is_never_replaced(tmp_path: Path, other: str) -> None:
    path = tmp_path / "out"
    if other == "mine.csv":
        path.mkdir()  # tables of someone else, without our mark
    elif other != "mark.csv":
        _folder(path, a="1")
    (path / other).parent.mkdir(parents=True, exist_ok=True)
    (path / other).write_text("theirs")

    with pytest.raises(OutputError, match="not ours"):
        _folder(path, force=True, c="3")

    assert (path / other).read_text() == "theirs"


def test_a_folder_comes_back_when_its_place_cannot_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    _folder(path, a="1")
    replace = Path.replace

    def fail_second(self: Path, target: Path) -> Path:
        if (self / "c.csv").exists():
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail_second)
    with pytest.raises(OutputError, match="No space left"):
        _folder(path, force=True, c="3")

    assert _names(path) == ["a.csv", "mark.csv"]
    assert _names(tmp_path) == ["out"]
