from __future__ import annotations

from tests.report.sample_page import column
from trainwright.core.result import Finding, Quality, Result, TableSpec
from trainwright.report.summary import cards

_SPEC = TableSpec(
    name="step_time",
    title="Steps",
    help="",
    columns=(column("rank", "id"), column("step", "id"), column("computing_ns", "ns"), column("total_ns", "ns")),
)


def _figures(result: Result) -> list[tuple[str, str, str]]:
    return [(card.name, card.value, card.note) for card in cards(result)]


def test_shares_are_of_all_steps_and_leave_out_what_is_outside() -> None:
    table = _SPEC.table(
        [(0, 1, 30_000, 100_000), (0, 2, 60_000, 100_000), (1, 1, 30_000, 40_000), (0, None, 9, 999_999)]
    )

    assert _figures(Result(tables=(table,))) == [
        ("step time", "80.000 us", "mean of 2 ranks, 2 steps"),
        ("computing", "50.0 %", "40.000 us a step"),
    ]


def test_a_run_without_steps_is_summed_as_it_is() -> None:
    assert _figures(Result(tables=(_SPEC.table([(0, None, 5, 10)]),)))[0] == (
        "step time",
        "10 ns",
        "mean of 1 rank, 1 step",
    )


def test_nothing_to_sum_gives_no_figures() -> None:
    assert cards(Result(tables=(_SPEC.table([]),))) == []
    assert cards(Result(tables=(_SPEC.table([(0, 1, 0, 0)]),))) == []


def test_findings_and_quality_are_counted() -> None:
    result = Result(
        findings=(Finding(code="a", severity="error", title=""), Finding(code="b", severity="info", title="")),
        quality=(Quality(code="q", count=3),),
    )

    assert _figures(result) == [("findings", "2", "1 to act on"), ("input quality", "1", "kind of trouble, 3 cases")]
