"""The contract of an analysis leaf: a rank or a whole run in, tables out.

A leaf declares its tables (`trainwright.core.result.TableSpec`) and one pure function over the store. Declaring is
enough to appear in ``trainwright analyze``, in HTML, JSON, CSV, SQL and the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from trainwright.core.registry import Registry
from trainwright.core.result import Result, TableSpec
from trainwright.trace.store import RankStore, Run


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One analysis (module constant ``ANALYSIS``).

    `scope` ``rank``: `per_rank` is called for every rank, in parallel, and rows are concatenated in rank order; the
    function must not look at other ranks. `scope` ``run``: `per_run` is called once with all ranks.
    """

    code: str
    summary: str
    scope: Literal["rank", "run"]
    tables: tuple[TableSpec, ...]
    #: Position in reports; lower comes first.
    order: int = 50
    per_rank: Callable[[RankStore], Result] | None = None
    per_run: Callable[[Run], Result] | None = None


ANALYSES: Registry[Analysis] = Registry(kind="analysis", package="trainwright.analyze.analyses", constant="ANALYSIS")
