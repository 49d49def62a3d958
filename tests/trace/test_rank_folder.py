"""The store when it is damaged, full, in use, or not ours to write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trace.make_trace import slice_event, write_trace
from trainwright.core.errors import StoreError
from trainwright.trace import cache, rank_folder, writer
from trainwright.trace.cache import cache_table, clear_cache
from trainwright.trace.ingest import open_run, store_dir
from trainwright.trace.rank_folder import MANIFEST, hold, is_held, read_manifest
from trainwright.trace.writer import RankWriter


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "rank0.json", [slice_event("a", 1, 2), slice_event("b", 2, 2)])


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _zero_the_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))


def _garble(path: Path) -> None:
    path.write_text("[1, 2")


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("slices.arrow", Path.unlink), ("slices.arrow", _cut), ("slices.arrow", _zero_the_end),
        (MANIFEST, Path.unlink), (MANIFEST, _cut), (MANIFEST, _garble),
    ],
)  # fmt: skip
def test_a_damaged_rank_is_listed_and_read_again(trace: Path, name: str, damage: Callable[[Path], None]) -> None:
    (rank,) = open_run([trace]).ranks
    damage(rank.folder / name)
    assert read_manifest(rank.folder) is None
    assert "damaged" in str(cache_table().rows[0][1])
    (again,) = open_run([trace]).ranks
    assert again.folder == rank.folder
    assert again.rows("slices") == 2
    assert [entry.name for entry in store_dir().iterdir()] == [rank.folder.name]


def test_a_rank_that_is_removed_while_it_is_used_is_no_empty_rank(trace: Path) -> None:
    (rank,) = open_run([trace]).ranks
    assert rank.rows("slices") == 2
    clear_cache()
    with pytest.raises(StoreError, match="cleared or damaged"):
        rank.rows("lanes")


def test_what_another_process_wrote_first_stays(trace: Path) -> None:
    (rank,) = open_run([trace]).ranks
    before = (rank.folder / MANIFEST).stat().st_ino
    RankWriter(rank.folder, lambda done, total: None).finish()
    assert (rank.folder / MANIFEST).stat().st_ino == before


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_store_in_a_file_is_explained(
    trace: Path, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRAINWRIGHT_CACHE", str(tmp_path / place))
    with pytest.raises(StoreError, match="TRAINWRIGHT_CACHE"):
        open_run([trace])


def test_a_full_store_is_explained_and_left_clean(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_write_ipc", full)
    with pytest.raises(StoreError, match=r"No space left on device[\s\S]*TRAINWRIGHT_CACHE"):
        open_run([trace])
    assert list(store_dir().iterdir()) == []


def test_clearing_leaves_what_is_being_read(tmp_path: Path, trace: Path) -> None:
    open_run([trace])
    busy = RankWriter(store_dir() / "busy", lambda done, total: None)
    (store_dir() / ".left.123").mkdir()
    assert clear_cache() == 1
    (left,) = store_dir().iterdir()
    assert is_held(left)
    assert busy.finish().is_dir()
    assert clear_cache() == 0
    assert list(store_dir().iterdir()) == []


def test_a_folder_is_held_until_it_is_released(tmp_path: Path) -> None:
    held = hold(tmp_path)
    assert is_held(tmp_path)
    os.close(held)
    assert not is_held(tmp_path)
    assert not is_held(tmp_path / "none")


def test_a_file_system_without_locks_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(rank_folder.fcntl, "flock", unsupported)
    os.close(hold(tmp_path))
    assert not is_held(tmp_path)


def test_clearing_without_permission_is_no_success(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_run([trace])

    def denied(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(cache.shutil, "rmtree", denied)
    with pytest.raises(StoreError, match=r"1 of 1 entries[\s\S]*Permission denied"):
        clear_cache()
    assert len(cache_table().rows) == 1
