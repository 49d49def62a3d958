"""``trainwright migrate`` from outside: what it prints, writes, refuses and answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.migrate.fake_language import use_fake
from tests.migrate.test_deliver import committed, tree
from tests.migrate.test_engine import project
from trainwright.cli.main import main

FILES: dict[str, str | bytes] = {
    "train.fake": "cuda\nnccl\napex\napex\namp\n",
    "util.fake": "cuda\n",
    "README.md": "install the cuda toolkit\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_fake(monkeypatch)
    return project(tmp_path / "p", FILES)


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out = capsys.readouterr().out
    return dict(json.loads(out, parse_constant=lambda text: pytest.fail(f"not strict JSON: {text}")))


def test_the_summary_puts_blockers_first_and_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(root)
    assert main(["migrate", str(root)]) == 0
    out = capsys.readouterr().out
    assert tree(root) == before
    assert "2 files, 6 lines" in out
    assert "33.3 % of 6 places can be migrated automatically; 2 blocked, 1 to decide" in out
    assert "1 unsafe edit is held back" in out
    assert out.index("TW601 apex is here (2 places)") < out.index("TW201 amp is here") < out.index("train.fake  fake")
    assert "Also train.fake:4" in out
    assert f"trainwright migrate {root} --out {root}_npu" in out


def test_the_answer_follows_the_contract(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(root), "--json"]) == 0
    document = answer(capsys)
    assert (document["schema"], document["command"], document["quality"]) == ("trainwright/1", "migrate", [])
    table = document["tables"]["files"]
    assert table["columns"][:6] == ["file", "language", "lines", "edits", "findings", "effort"]
    assert [row[:6] for row in table["rows"]] == [
        ["train.fake", "fake", 5, 1, 5, "hours"], ["util.fake", "fake", 1, 1, 1, "none"],
    ]  # fmt: skip
    summary = document["summary"]
    assert (summary["files"], summary["lines"], summary["edits_safe"], summary["edits_unsafe"]) == (2, 6, 2, 1)
    assert (summary["manual"], summary["blocked"], summary["auto_share"]) == (1, 2, pytest.approx(2 / 6))
    cuda = next(finding for finding in document["findings"] if finding["code"] == "TW101")
    assert (cuda["safety"], cuda["before"], cuda["after"], cuda["severity"]) == ("safe", "cuda", "npu", "info")
    assert cuda["where"] == {"file": "train.fake", "line": 1, "column": 1}
    apex = document["findings"][0]
    assert (apex["severity"], apex["safety"], apex["before"], apex["after"]) == ("error", "display", "apex", None)


def test_a_diff_is_all_that_is_on_standard_output(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(root), "--diff"]) == 0
    captured = capfd.readouterr()
    assert captured.out.startswith("--- a/train.fake\n+++ b/train.fake\n@@ -1,4 +1,4 @@\n-cuda\n+npu\n")
    assert "1 unsafe edit is held back" in captured.err


def test_out_writes_a_copy_and_names_the_changes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = root.parent / "copy"
    assert main(["migrate", str(root), "--out", str(out), "--unsafe", "--json"]) == 0
    document = answer(capsys)
    assert document["tables"]["changes"]["rows"][0] == ["train.fake", 1, 1, "TW101", "cuda is here"]
    assert (out / "train.fake").read_text() == "npu\nhccl\napex\napex\namp\n"
    assert (out / "README.md").read_text() == FILES["README.md"]
    assert main(["migrate", str(root), "--out", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["migrate", str(root), "--out", str(out), "--force"]) == 0
    assert "nccl" in (out / "train.fake").read_text()
    assert main(["migrate", str(root), "--out", str(root / "in")]) == 2


def test_write_needs_a_clean_tree_and_a_second_run_changes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", str(root), "--write"]) == 2
    assert "not in a git repository" in capsys.readouterr().err
    committed(root)
    assert main(["migrate", str(root), "--write"]) == 0
    assert "changed 2 files" in capsys.readouterr().err
    after = tree(root)
    assert main(["migrate", str(root), "--write"]) == 2
    assert "not committed" in capsys.readouterr().err
    assert main(["migrate", str(root), "--write", "--force"]) == 0
    assert "changed 0 files" in capsys.readouterr().err
    assert tree(root) == after


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        ("prose", [], 0),
        ("cuda", [], 1),
        ("cuda", ["--write", "--force"], 0),
        ("nccl", ["--write", "--force"], 1),
        ("nccl", ["--write", "--force", "--unsafe"], 0),
        ("apex", ["--write", "--force", "--unsafe"], 1),
        ("apex", ["--ignore", "TW601"], 0),
        ("cuda", ["--diff"], 1),
    ],
)
def test_check_ends_with_1_while_work_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, arguments: list[str], code: int
) -> None:
    use_fake(monkeypatch)
    project(tmp_path, {"a.fake": text})
    assert main(["migrate", str(tmp_path), "--check", *arguments]) == code


def test_every_report_is_written_and_none_overwritten(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [root.parent / f"report.{ending}" for ending in ("html", "json", "sarif", "md", "csv")]
    arguments = ["migrate", str(root), *(part for name in names for part in ("--report", str(name)))]
    assert main(arguments) == 0
    texts = {name.suffix: name.read_text(encoding="utf-8") for name in names}
    assert all("apex is here" in text for text in texts.values())
    assert json.loads(texts[".json"])["command"] == "migrate"
    assert json.loads(texts[".sarif"])["version"] == "2.1.0"
    assert texts[".csv"].splitlines()[1].startswith("TW601,error,display,apex is here,train.fake,3,1")
    assert "```diff\n- cuda\n+ npu\n```" in texts[".md"]
    assert 'aria-label="before">cuda</pre><pre class="after" aria-label="after">npu</pre>' in texts[".html"]
    capsys.readouterr()
    assert main(arguments) == 2
    assert "exists" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert main(["migrate", str(root), "--report", "x.pdf"]) == 2
    assert ".sarif" in capsys.readouterr().err


def test_preferences_of_the_project_count_and_the_command_line_wins(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "pyproject.toml").write_text(
        '[tool.trainwright.migrate]\nstyle = "agnostic"\ntorch = "2.9"\nignore = ["TW6"]\nexclude = ["util*"]\n'
    )
    assert main(["migrate", str(root)]) == 0
    out = capsys.readouterr().out
    assert "1 files, 5 lines; torch 2.9 on A2, style agnostic" in out
    assert "TW601" not in out
    assert main(["migrate", str(root), "--style", "npu", "--torch", "2.10.1", "--soc", "A3"]) == 0
    assert "torch 2.10 on A3, style npu" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/no/such/project"], "there is no"),
        (["--select", "TW999", "."], "no rule 'TW999'"),
        (["--torch", "1.0", "."], "--torch 1.0 is not known"),
        (["--rules", "missing.yaml", "."], "cannot read missing.yaml"),
        ([".", ".."], "two paths given"),
        (["explain"], "needs a rule"),
        (["explain", "TW999"], "no rule 'TW999'"),
        (["api"], "needs a name"),
    ],
)
def test_wrong_use_ends_with_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    use_fake(monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_folder_called_explain_is_migrated_as_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_fake(monkeypatch)
    project(tmp_path, {"explain/a.fake": "cuda"})
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", "./explain"]) == 0
    assert "1 files" in capsys.readouterr().out


def test_explain_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "explain", "tw301"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("TW301 process-group")
    assert "Before\n    " in out
    assert "After\n    " in out
    assert main(["migrate", "explain", "process-group", "--json"]) == 0
    assert answer(capsys)["tables"]["rules"]["rows"][0][:2] == ["TW301", "process-group"]


def test_api_says_what_the_npu_supports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "api", "torch.add", "--torch", "2.8", "--soc", "A3"]) == 0
    assert "torch 2.8 on A3" in capsys.readouterr().out
    assert main(["migrate", "api", "torch.cuda.comm.gather", "--json"]) == 1
    record = answer(capsys)["api"]
    assert (record["status"], record["torch"], record["soc"]) == ("unsupported", "2.8", "A2")
    assert main(["migrate", "api", "torch.no_such_thing_at_all"]) == 0
    assert "not listed" in capsys.readouterr().out


def test_an_interrupted_migration_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = tree(root)
    monkeypatch.setattr("trainwright.migrate.copy._swap", interrupt)
    assert main(["migrate", str(root), "--out", str(root.parent / "copy")]) == 130
    assert [path.name for path in root.parent.iterdir()] == ["p"]
    monkeypatch.setattr("os.fchmod", interrupt)
    assert main(["migrate", str(root), "--write", "--force"]) == 130
    assert tree(root) == before


def test_the_console_shows_a_few_of_every_rule_and_our_own_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_fake(monkeypatch)
    lines = "\n".join(f"apex{number}" for number in range(9))
    project(tmp_path, {"a.fake": f"{lines}\namp\n", "b.fake": "boom\n", "c.py": "x = cuda(wreck)\n"})
    assert main(["migrate", str(tmp_path), "--top", "0"]) == 0
    captured = capsys.readouterr()
    assert "TW601 6 more of this rule" in captured.out
    assert captured.out.index("apex2 is here") < captured.out.index("more of this rule") < captured.out.index("amp is")
    assert "apex3 is here" not in captured.out
    assert "b.fake and 0 more files could not be scanned because of an error of ours" in captured.err
    assert "c.py and 0 more files would not have been readable" in captured.err


def test_rules_of_the_user_are_applied_and_selected_by_their_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path / "p", {"a.py": "import ourlib\n\nourlib.fast()\n"})
    project(tmp_path, {"rules.yaml": "- {code: MY001, call: ourlib.fast, replace: ourlib.npu_fast, safety: safe}\n"})
    arguments = ["migrate", str(tmp_path / "p"), "--rules", str(tmp_path / "rules.yaml"), "--select", "MY"]
    assert main([*arguments, "--write", "--force"]) == 0
    assert (tmp_path / "p/a.py").read_text() == "import ourlib\n\nourlib.npu_fast()\n"
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    assert answer(capsys)["findings"] == []
