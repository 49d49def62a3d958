from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from trainwright.core.result import Finding, Quality, Replacement, Result, Where
from trainwright.report.renderer import RENDERERS, Page

SARIF = RENDERERS["sarif"]

#: The properties of the schema of SARIF 2.1.0 that we use: name of the object -> allowed keys, then required ones.
SHAPES: dict[str, tuple[set[str], set[str]]] = {
    "log": ({"$schema", "version", "runs"}, {"version", "runs"}),
    "run": ({"tool", "columnKind", "originalUriBaseIds", "invocations", "results"}, {"tool"}),
    "result": (
        {"ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints", "properties", "fixes"},
        {"message"},
    ),
    "region": ({"startLine", "startColumn", "endLine", "endColumn"}, set()),
    "fix": ({"description", "artifactChanges"}, {"artifactChanges"}),
    "change": ({"artifactLocation", "replacements"}, {"artifactLocation", "replacements"}),
    "replacement": ({"deletedRegion", "insertedContent"}, {"deletedRegion"}),
    "artifact": ({"uri", "uriBaseId"}, set()),
}


def finding(**fields: Any) -> Finding:
    return Finding(**({"code": "TW101", "severity": "info", "title": "found"} | fields))


def log_of(*findings: Finding, quality: tuple[Quality, ...] = ()) -> dict[str, Any]:
    page = Page(
        command="migrate", title="t", result=Result(findings=findings, quality=quality), codes={"TW101": "Says."}
    )
    return dict(json.loads(SARIF.render(page)))


def check(record: dict[str, Any], shape: str) -> None:
    allowed, required = SHAPES[shape]
    assert required <= set(record) <= allowed, (shape, record)


def check_region(region: dict[str, int]) -> None:
    check(region, "region")
    assert all(isinstance(value, int) and value >= 1 for value in region.values())
    assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


EDITED = finding(
    severity="error", safety="unsafe", before="cuda", after="npu", end=(3, 9), advice="do it",
    where=Where(file="pkg/a b#é.py", line=3, column=5),
    replacements=(
        Replacement(line=3, column=5, end_line=3, end_column=9, new="npu"),
        Replacement(line=1, column=1, end_line=1, end_column=1, new="import torch_npu\n"),
        Replacement(line=4, column=1, end_line=5, end_column=1, new=""),
    ),
)  # fmt: skip


def test_an_empty_log_is_valid() -> None:
    log = log_of()
    check(log, "log")
    (run,) = log["runs"]
    check(run, "run")
    assert (run["results"], run["tool"]["driver"]["name"], run["tool"]["driver"]["rules"]) == ([], "trainwright", [])


def test_findings_outside_of_files_are_no_results() -> None:
    assert log_of(finding(where=Where(rank=3)))["runs"][0]["results"] == []


def test_a_result_has_a_place_a_rule_and_a_fix() -> None:
    (run,) = log_of(finding(code="TW9", where=Where(file="z.py")), EDITED)["runs"]
    plain, result = run["results"]
    for record in (plain, result):
        check(record, "result")
        assert run["tool"]["driver"]["rules"][record["ruleIndex"]]["id"] == record["ruleId"]
    assert run["tool"]["driver"]["rules"][0] == {"id": "TW101", "shortDescription": {"text": "Says."}}
    assert plain["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "z.py", "uriBaseId": "SRCROOT"}}}]
    assert (result["level"], plain["level"]) == ("error", "note")
    location = result["locations"][0]["physicalLocation"]
    check(location["artifactLocation"], "artifact")
    assert location["artifactLocation"]["uri"] == "pkg/a%20b%23%C3%A9.py"
    check_region(location["region"])
    (fix,) = result["fixes"]
    check(fix, "fix")
    (change,) = fix["artifactChanges"]
    check(change, "change")
    for replacement in change["replacements"]:
        check(replacement, "replacement")
        check_region(replacement["deletedRegion"])
    assert [item.get("insertedContent") for item in change["replacements"]] == [
        {"text": "npu"}, {"text": "import torch_npu\n"}, None,
    ]  # fmt: skip
    assert "may change what the program does" in fix["description"]["text"]


def test_equal_findings_have_fingerprints_of_their_own() -> None:
    results = log_of(EDITED, EDITED)["runs"][0]["results"]
    prints = [result["partialFingerprints"]["trainwright/v1"] for result in results]
    assert len(set(prints)) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}:\d", text) for text in prints)


def test_hostile_names_stay_text_and_quality_is_told() -> None:
    evil = '"\u202e\ud800</script>'
    run = log_of(finding(title=evil, where=Where(file=f"\udcff{evil}", line=1)), quality=(
        Quality(code="too-large", count=2, example=evil, file=evil),
    ))["runs"][0]  # fmt: skip
    assert re.fullmatch(r"[\w.%/~-]+", run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "too-large, 2 times" in note["message"]["text"]


def test_writing_is_whole_or_not_at_all(tmp_path: Path) -> None:
    page = Page(command="migrate", title="t", result=Result(findings=(EDITED,)))
    (path,) = SARIF.write(page, tmp_path / "x.sarif")
    assert path.read_text() == SARIF.render(page)
