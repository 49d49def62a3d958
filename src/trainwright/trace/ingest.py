"""Turn the user's input into an opened run: discover ranks, read what the cache does not hold, open the store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainwright.core.errors import InputError, StoreError, TrainwrightError
from trainwright.core.executor import EXECUTORS, OnProgress, Report, no_progress
from trainwright.core.result import Quality
from trainwright.core.settings import cache_dir, max_jobs
from trainwright.trace.discover import RankUnit, discover
from trainwright.trace.rank_folder import read_manifest
from trainwright.trace.reader import READERS
from trainwright.trace.store import RankStore, Run
from trainwright.trace.writer import RankWriter

#: Raise when the schema, a reader or the layout changes what ends up on disk.
STORE_VERSION = 6
#: Input below this is read in this process: starting workers would cost more.
POOL_BYTES = 24 << 20
#: Bytes of a file that go into its key: the two ends and samples between.
KEY_END_BYTES = 64 << 10
KEY_SAMPLES = 8
KEY_SAMPLE_BYTES = 4 << 10


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A rank to ingest and the folder it goes to."""

    unit: RankUnit
    folder: Path


def open_run(paths: Sequence[Path], *, jobs: int | None = None, on_progress: OnProgress = no_progress) -> Run:
    """The run below `paths`; ranks that the store does not hold yet are read first, in parallel.

    A rank that cannot be read is left out and named in the run's quality.

    Raises:
        InputError: a path does not exist, holds no profile, or no rank of it can be read.
        StoreError: the store cannot be written.
    """
    most = max_jobs()  # a setting that cannot be read is said before the work
    found = discover(paths)
    planned = [_Job(unit=unit, folder=store_dir() / _key(unit)) for unit in found.units]
    missing = [(at, job) for at, job in enumerate(planned) if read_manifest(job.folder) is None]
    size = sum(path.stat().st_size for _, job in missing for part in job.unit.parts for path in part.files)
    workers = min(jobs or most, len(missing)) if size > POOL_BYTES else 1
    outcomes = EXECUTORS["local"].map(
        ingest_rank,
        [job for _, job in missing],
        workers=workers,
        on_progress=lambda index, done, total: on_progress(missing[index][0], done, total),
    )
    quality = list(found.quality)
    quality.extend(
        Quality(code="refused", count=1, example=refusal.reason, file=str(refusal.path)) for refusal in found.refusals
    )
    errors: dict[int, TrainwrightError] = {}
    for (at, _), outcome in zip(missing, outcomes, strict=True):
        if isinstance(outcome.error, StoreError):
            raise outcome.error  # no fault of the rank: the next one would meet it too
        if outcome.error is not None:
            errors[at] = outcome.error
    for at, error in errors.items():
        unit = planned[at].unit
        quality.append(Quality(code="rank-not-read", count=1, example=str(error), file=str(unit.path)))
    ranks = [RankStore(folder=job.folder, unit=job.unit) for at, job in enumerate(planned) if at not in errors]
    if not ranks:
        first = next(iter(errors.values()))
        raise InputError(
            f"none of the {len(errors)} rank(s) could be read; the first: {first.what}",
            allowed=first.allowed,
            todo=first.todo or "check the files",
        )
    return Run(ranks=ranks, quality=quality)


def ingest_rank(job: _Job, report: Report) -> None:
    """Read one rank into its folder of the store."""
    writer = RankWriter(job.folder, report)
    try:
        for part in job.unit.parts:
            READERS[part.reader].read(part, writer)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


def store_dir() -> Path:
    """The folder that holds one folder per rank."""
    return cache_dir() / f"store-v{STORE_VERSION}"


def _key(unit: RankUnit) -> str:
    """Name of the rank's folder: a hash of what the readers will read and of who reads it."""
    digest = hashlib.blake2b(digest_size=16)
    for part in unit.parts:
        digest.update(repr((part.reader, sorted(part.takes or ()), sorted(part.options.items()))).encode())
        for path in part.files:
            status = path.stat()
            digest.update(os.fsencode(path.name) + f"|{status.st_size}|{status.st_mtime_ns}".encode())
            digest.update(_sample(path, status.st_size))
    return digest.hexdigest()


def _sample(path: Path, size: int) -> bytes:
    """Both ends of a file and pieces between."""
    with path.open("rb") as file:
        parts = [file.read(KEY_END_BYTES)]
        if size > 2 * KEY_END_BYTES:
            step = (size - 2 * KEY_END_BYTES) // (KEY_SAMPLES + 1)
            for at in range(1, KEY_SAMPLES + 1):
                file.seek(KEY_END_BYTES + at * step)
                parts.append(file.read(KEY_SAMPLE_BYTES))
            file.seek(-KEY_END_BYTES, os.SEEK_END)
            parts.append(file.read())
    return b"".join(parts)
