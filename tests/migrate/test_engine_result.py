from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.fake_language import use_fake
from tests.migrate.test_engine import project, scanned
from trainwright.migrate.effort import effort_of, minutes_by_file, spoken
from trainwright.migrate.options import Options
from trainwright.migrate.places import places_of
from trainwright.migrate.project import Project
from trainwright.migrate.remark import Edit, Remark
from trainwright.migrate.result import result_of, summary_of
from trainwright.migrate.scan import FileScan, Scan
from trainwright.migrate.source import plain_source
from trainwright.migrate.splice import spliced


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake(monkeypatch)


def test_nothing_to_do_is_all_done(tmp_path: Path) -> None:
    scan = scanned(project(tmp_path, {"a.fake": "prose\n"}))
    summary = summary_of(scan, unsafe=False)
    assert (summary.auto_share, summary.notes, summary.minutes, summary.auto_share_of) == (1.0, 1, 0, 0)
    assert scan.remaining(unsafe=False, delivered=False) == 0


def test_figures_add_up(tmp_path: Path) -> None:
    scan = scanned(project(tmp_path, {"a.fake": "cuda cuda nccl\napex amp prose\n", "b.fake": "cuda\n"}))
    summary = summary_of(scan, unsafe=False)
    record = summary.record()
    assert {key: record[key] for key in ("files", "lines", "edits_safe", "edits_unsafe", "manual", "blocked")} == {
        "files": 2, "lines": 3, "edits_safe": 3, "edits_unsafe": 1, "manual": 1, "blocked": 1,
    }  # fmt: skip
    assert summary.auto_share == 3 / 6
    assert summary_of(scan, unsafe=True).auto_share == 4 / 6
    assert [scan.remaining(unsafe=unsafe, delivered=True) for unsafe in (False, True)] == [3, 2]
    assert scan.remaining(unsafe=False, delivered=False) == 6


def test_blockers_come_first_with_before_and_after(tmp_path: Path) -> None:
    scan = scanned(project(tmp_path, {"a.fake": "prose\ncuda\nnccl\namp\napex\n"}))
    result = result_of(scan)
    assert [(finding.title.split()[0], finding.severity, finding.safety) for finding in result.findings] == [
        ("apex", "error", "display"), ("amp", "warning", "display"), ("nccl", "warning", "unsafe"),
        ("cuda", "info", "safe"), ("prose", "info", "display"),
    ]  # fmt: skip
    cuda = result.findings[3]
    assert (cuda.where.file, cuda.where.line, cuda.where.column, cuda.end) == ("a.fake", 2, 1, (2, 5))
    assert (cuda.before, cuda.after) == ("cuda", "npu")
    assert [kind for kind, *_ in result.table("kinds").rows] == ["blocked", "manual", "unsafe", "replaced", "note"]


def test_files_are_listed_with_most_work_first(tmp_path: Path) -> None:
    scan = scanned(project(tmp_path, {"a.fake": "cuda\n", "b.fake": "apex apex\n", "c.fake": "amp\n"}))
    rows = result_of(scan).table("files").records()
    assert [(row["file"], row["edits"], row["findings"], row["effort"], row["minutes"]) for row in rows] == [
        ("b.fake", 0, 2, "hours", 75), ("c.fake", 0, 1, "minutes", 10), ("a.fake", 1, 1, "none", 0),
    ]  # fmt: skip


def test_changes_give_lines_of_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = scanned(project(tmp_path, {"a.fake": "one\ncuda\n\ncuda\n"}))
    assert result_of(scan, delivered=True).table("changes").rows == [
        ("a.fake", 2, 2, "TW101", "cuda is here"), ("a.fake", 4, 4, "TW101", "cuda is here"),
    ]  # fmt: skip


def test_lines_put_in_before_a_place_move_it(tmp_path: Path) -> None:
    source = plain_source("a.py", b"import torch\ncuda\nx\ncuda\n")
    imported = Edit(start=13, end=13, new="import torch_npu\n")
    found = tuple(
        Remark(number="TW1", start=at, end=at + 4, title="t", safety="safe", edits=(edit, imported))
        for at, edit in ((13, Edit(start=13, end=17, new="npu\nnpu")), (20, Edit(start=20, end=24, new="npu")))
    )
    file = FileScan(
        path="a.py", language="python", lines=4, remarks=found, places=places_of(source, found), size_bytes=25, sha=""
    )
    scan = Scan(root=tmp_path, options=Options(), files=(file,), project=Project())
    rows = result_of(scan, delivered=True).table("changes").rows
    delivered = spliced(source, file.edits(unsafe=False)).decode().splitlines()
    assert delivered == ["import torch", "import torch_npu", "npu", "npu", "x", "npu"]
    assert [(line, new) for _, line, new, *_ in rows] == [(2, 3), (4, 6)]
    assert (file.places[0].before, file.places[0].after) == ("cuda", "import torch_npu\nnpu\nnpu")


def remark(outcome: str, minutes: int = 0, name: str = "", safety: str = "display") -> Remark:
    edits = (Edit(start=0, end=1, new="x"),) if safety != "display" else ()
    return Remark(
        number="TW1", start=0, end=1, title="t", outcome=outcome, minutes=minutes, name=name, safety=safety, edits=edits  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("remarks", "minutes"),
    [
        ([], {}),
        ([("a", remark("note"))], {}),
        ([("a", remark("replaced", safety="safe"))], {}),
        ([("a", remark("replaced", safety="unsafe"))] * 3, {"a": 6}),
        ([("a", remark("manual"))], {"a": 15}),
        ([("a", remark("manual", 40)), ("b", remark("manual", 40))], {"a": 40, "b": 10}),
        ([("a", remark("blocked", 40, "x")), ("a", remark("blocked", 40, "y"))], {"a": 80}),
    ],
)
def test_the_first_of_a_kind_costs_most(remarks: list[tuple[str, Remark]], minutes: dict[str, int]) -> None:
    assert minutes_by_file(remarks) == minutes


def test_efforts_in_words() -> None:
    assert [effort_of(minutes) for minutes in (0, 1, 60, 61, 480, 481)] == [
        "none", "minutes", "minutes", "hours", "hours", "days",
    ]  # fmt: skip
    assert [spoken(minutes) for minutes in (0, 1, 59, 90, 480, 2000)] == [
        "nothing", "about 1 minute", "about 59 minutes", "about 2 hours", "about 8 hours", "about 4 days",
    ]  # fmt: skip
