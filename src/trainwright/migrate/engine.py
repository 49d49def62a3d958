"""Scan a project: learn from every file, merge, then scan every file with the whole project at hand.

Files are worked on in chunks, in processes of their own when there are many. One file that makes us fail costs only
itself; it is named in the quality notes.
"""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from trainwright.core.executor import EXECUTORS, OnProgress, Report, no_progress
from trainwright.core.result import Quality
from trainwright.core.settings import max_jobs
from trainwright.migrate.language import Language
from trainwright.migrate.options import Options
from trainwright.migrate.places import places_of
from trainwright.migrate.project import Facts, Project, merged
from trainwright.migrate.reading import HEAD_BYTES, digest, language_of, read_bytes
from trainwright.migrate.remark import Remark
from trainwright.migrate.scan import FileScan, Scan
from trainwright.migrate.selection import Selection, select_rules
from trainwright.migrate.source import Source
from trainwright.migrate.suppress import unsuppressed
from trainwright.migrate.user_rules import UserRule, user_remarks
from trainwright.migrate.verify import verified
from trainwright.migrate.walk import Found, Walk, walk

_Value = TypeVar("_Value")
#: Below this many bytes of sources, starting processes costs more than it gains.
_SMALL_BYTES = 1 << 20
_CHUNKS_PER_WORKER = 4
#: A file larger than this is data, not source.
MOST_BYTES = 20 * 2**20


@dataclass(frozen=True, kw_only=True)
class _Chunk:
    """Files for one worker. `project` is pickled, so that passing it on costs a copy of bytes and no more."""

    root: str
    options: Options
    selection: Selection
    files: tuple[Found, ...] = ()
    rules: tuple[UserRule, ...] = ()
    project: bytes = b""
    strict: bool = False

    def __str__(self) -> str:
        return f"{len(self.files)} files, first {self.files[0].path}"


def scan(
    root: Path,
    *,
    options: Options,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    rules: Sequence[UserRule] = (),
    jobs: int | None = 1,
    on_progress: OnProgress = no_progress,
    strict: bool = False,
) -> Scan:
    """Scan a project folder or one file; nothing is written.

    `select` and `ignore` take rule numbers, beginnings of numbers (``TW1``) and rule codes. With `strict` an error of
    ours in one file is raised instead of noted.

    Raises:
        InputError: no such path, or no such rule.
    """
    selection = select_rules(select, ignore, rules)
    found = walk(root, exclude=exclude)
    files, too_large = _candidates(found)
    workers = 1 if sum(file.size_bytes for file in files) < _SMALL_BYTES else jobs or max_jobs()
    start = _Chunk(root=str(found.root), options=options, selection=selection, rules=tuple(rules), strict=strict)
    chunks = [replace(start, files=part) for part in _parts(files, workers)]
    show = _Overall(on_progress, 2 * len(files))
    learned = _map(_learn_chunk, chunks, workers, show)
    project = merged(fact for facts, _ in learned for fact in facts)
    sent = pickle.dumps(project)
    scanned = _map(_scan_chunk, [replace(chunk, project=sent) for chunk in chunks], workers, show)
    notes = [note for _, part in (*learned, *scanned) for note in part]
    return Scan(
        root=found.root,
        options=options,
        files=tuple(sorted((file for part, _ in scanned for file in part), key=lambda file: file.path)),
        project=project,
        quality=(*found.notes, *too_large, *dict.fromkeys(notes)),
        only=found.only,
        codes=dict(selection.sentences),
    )


def _candidates(found: Walk) -> tuple[tuple[Found, ...], list[Quality]]:
    """The files that some language reads, and a note on each that is too large to be source."""
    files, notes = [], []
    for file in found.files:
        if not _is_candidate(found.root, file):
            continue
        if file.size_bytes <= MOST_BYTES:
            files.append(file)
        else:
            notes.append(Quality(code="too-large", count=1, example=f"{file.size_bytes:,} bytes", file=file.path))
    return tuple(files), notes


def _is_candidate(root: Path, file: Found) -> bool:
    try:
        return language_of(file.path, read_bytes(root, file.path, most=HEAD_BYTES)) is not None
    except OSError:
        return True  # named when it is read


def _parts(files: Sequence[Found], workers: int) -> Iterator[tuple[Found, ...]]:
    """Chunks of about equal size, in order."""
    if workers <= 1:
        if files:
            yield tuple(files)
        return
    goal = max(sum(file.size_bytes for file in files) // (workers * _CHUNKS_PER_WORKER), 1)
    ends = itertools.accumulate(file.size_bytes for file in files)
    for _, group in itertools.groupby(zip(files, ends, strict=True), key=lambda pair: (pair[1] - 1) // goal):
        yield tuple(file for file, _ in group)


class _Overall:
    """One progress out of the progress of many chunks."""

    def __init__(self, on_progress: OnProgress, total: int) -> None:
        self._on_progress = on_progress
        self._total = max(total, 1)
        self._before = 0
        self._now: dict[int, int] = {}

    def __call__(self, index: int, done: int, _total: int) -> None:
        self._now[index] = done
        self._on_progress(0, self._before + sum(self._now.values()), self._total)

    def next_pass(self, files: int) -> None:
        """A pass over all files has ended."""
        self._before += files
        self._now = {}


def _map(
    work: Callable[[_Chunk, Report], tuple[list[_Value], list[Quality]]],
    chunks: Sequence[_Chunk],
    workers: int,
    show: _Overall,
) -> list[tuple[list[_Value], list[Quality]]]:
    outcomes = EXECUTORS["local"].map(work, chunks, workers=workers, on_progress=show)
    show.next_pass(sum(len(chunk.files) for chunk in chunks))
    found: list[tuple[list[_Value], list[Quality]]] = []
    for chunk, outcome in zip(chunks, outcomes, strict=True):
        if outcome.value is None:
            if chunk.strict and outcome.error is not None:
                raise outcome.error
            reason = outcome.error.what if outcome.error else "no answer"
            lost = [Quality(code="not-scanned", count=1, example=reason, file=file.path) for file in chunk.files]
            found.append(([], lost))
        else:
            found.append(outcome.value)
    return found


def _learn_chunk(chunk: _Chunk, report: Report) -> tuple[list[Facts], list[Quality]]:
    def learn(source: Source, language: Language) -> Facts:
        return language.learn(source)

    return _each(chunk, report, learn)


def _scan_chunk(chunk: _Chunk, report: Report) -> tuple[list[FileScan], list[Quality]]:
    project = _project(chunk.project)
    broken: list[Quality] = []

    def scan_one(source: Source, language: Language) -> FileScan:
        return _scan_file(source, language, project, chunk, broken)

    scans, notes = _each(chunk, report, scan_one)
    return scans, [*notes, *broken]


@lru_cache(maxsize=2)
def _project(data: bytes) -> Project:
    project = pickle.loads(data)  # made by this program a moment ago
    assert isinstance(project, Project)
    return project


def _each(
    chunk: _Chunk, report: Report, work: Callable[[Source, Language], _Value]
) -> tuple[list[_Value], list[Quality]]:
    """Apply `work` to every file; what fails is noted and the others go on."""
    values, notes = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parser warns of odd escapes in the files of the user
        for done, file in enumerate(chunk.files, 1):
            try:
                data = read_bytes(chunk.root, file.path)
                language = language_of(file.path, data[:HEAD_BYTES])
                if language is not None:
                    values.append(work(language.read(file.path, data), language))
            except OSError as error:
                reason = error.strerror or str(error)
                notes.append(Quality(code="unreadable-file", count=1, example=reason, file=file.path))
            except Exception as error:
                if chunk.strict:
                    raise
                notes.append(Quality(code="internal-error", count=1, example=_origin(error), file=file.path))
            report(done, len(chunk.files))
    return values, notes


def _origin(error: Exception) -> str:
    """An error with the place in our code that it comes from."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}: " if at is not None else ""
    return f"{where}{type(error).__name__}: {error}"[:300]


def _scan_file(source: Source, language: Language, project: Project, chunk: _Chunk, broken: list[Quality]) -> FileScan:
    found = list(language.scan(source, project, chunk.options))
    if chunk.rules:
        found += user_remarks(source, language.code, project, chunk.options, chunk.rules)
    wanted = [remark for remark in dict.fromkeys(found) if chunk.selection.takes(remark.number)]
    kept = unsuppressed(source, wanted, chunk.selection.numbers)
    remarks, problem = verified(source, language.code, sorted(kept, key=_order))
    if problem:
        broken.append(Quality(code="edits-withdrawn", count=1, example=problem, file=source.path))
    return FileScan(
        path=source.path,
        language=language.code,
        lines=source.line_count,
        remarks=tuple(remarks),
        places=places_of(source, remarks),
        size_bytes=len(source.data),
        sha=digest(source.data),
        suppressed=len(found) - len(kept),
    )


def _order(remark: Remark) -> tuple[int, int, str, str]:
    return remark.start, remark.end, remark.number, remark.title
