"""Read one source of a reader into a store, without walking folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainwright.trace.discover import RankUnit
from trainwright.trace.reader import Folder, Found, RankSource, Reader
from trainwright.trace.store import RankStore
from trainwright.trace.writer import RankWriter


def find_in(reader: Reader, path: Path) -> Found:
    """What a reader recognises in a folder, or in a file by itself."""
    if path.is_file():
        return reader.find(Folder(path=path.parent, files=(path,), folders=()))
    entries = sorted(path.iterdir())
    return reader.find(
        Folder(
            path=path,
            files=tuple(entry for entry in entries if entry.is_file()),
            folders=tuple(entry for entry in entries if entry.is_dir()),
        )
    )


def read_source(reader: Reader, source: RankSource, folder: Path) -> RankStore:
    """The store of one source; `folder` must not exist yet."""
    writer = RankWriter(folder, lambda done, total: None)
    reader.read(source, writer)
    return RankStore(folder=writer.finish(), unit=RankUnit(rank=source.rank or 0, parts=(source,)))


def rows_of(rank: RankStore, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table as tuples of the given columns, in stored order."""
    data = rank.table(table).select(list(columns)).to_pydict()
    return list(zip(*(data[name] for name in columns), strict=True))
