"""Run analyses over a run and put their answers together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainwright.analyze.analysis import ANALYSES, Analysis
from trainwright.core.executor import EXECUTORS, Report, no_progress
from trainwright.core.result import Quality, Result, merge
from trainwright.core.settings import max_jobs
from trainwright.trace.store import RankStore, Run

#: Slices below which the ranks are analysed in this process: starting workers would cost more.
POOL_SLICES = 2_000_000


@dataclass(frozen=True, kw_only=True)
class _Job:
    """The analyses to run over one rank."""

    rank: RankStore
    codes: tuple[str, ...]


def analyze_run(run: Run, codes: Sequence[str] = (), *, jobs: int | None = None) -> Result:
    """Tables and findings of the analyses called `codes` (all when empty), in report order, with all quality notes.

    Raises:
        InputError: there is no analysis of that name.
    """
    run = _without_summaries(run)
    chosen = sorted([ANALYSES[code] for code in codes] or ANALYSES, key=lambda leaf: (leaf.order, leaf.code))
    per_rank = tuple(leaf.code for leaf in chosen if leaf.scope == "rank")
    work = [_Job(rank=rank, codes=per_rank) for rank in run.ranks]
    slices = sum(rank.rows("slices") for rank in run.ranks)
    workers = min(jobs or max_jobs(), len(work)) if slices > POOL_SLICES else 1
    outcomes = EXECUTORS["local"].map(_analyze_rank, work, workers=workers, on_progress=no_progress)
    quality = [
        Quality(code="rank-not-analysed", count=1, example=str(outcome.error), file=str(job.rank.unit.path))
        for job, outcome in zip(work, outcomes, strict=True)
        if outcome.error is not None
    ]
    answers = [outcome.value for outcome in outcomes if outcome.value is not None]
    by_code = {code: merge(answer[code] for answer in answers) for code in per_rank}
    for leaf in chosen:
        if leaf.scope == "run":
            assert leaf.per_run is not None
            by_code[leaf.code] = leaf.per_run(run)
    result = merge(by_code[leaf.code] for leaf in chosen)
    return Result(
        tables=result.tables,
        findings=result.findings,
        quality=(*run.all_quality, *quality, *result.quality),
        extra=result.extra,
    )


def table_owner(name: str) -> Analysis | None:
    """The analysis that makes a table, or None."""
    for leaf in ANALYSES:
        if any(spec.name == name for spec in leaf.tables):
            return leaf
    return None


def table_names() -> list[str]:
    """The tables of all analyses."""
    return [spec.name for leaf in sorted(ANALYSES, key=lambda leaf: leaf.order) for spec in leaf.tables]


def _without_summaries(run: Run) -> Run:
    """The run without sources that only summarise other ranks (for SQL), unless there is nothing else."""
    ranks = [rank for rank in run.ranks if not rank.unit.is_summary]
    return Run(ranks=ranks or run.ranks, quality=run.quality)


def _analyze_rank(job: _Job, report: Report) -> dict[str, Result]:
    answers = {}
    for at, code in enumerate(job.codes):
        function = ANALYSES[code].per_rank
        assert function is not None, f"analysis {code} has scope rank and no function for it"
        answers[code] = function(job.rank)
        report(at + 1, len(job.codes))
    return answers
