from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.migrate.fake_language import use_fake
from trainwright.core.errors import InputError
from trainwright.migrate.engine import scan
from trainwright.migrate.options import Options
from trainwright.migrate.scan import Scan


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake(monkeypatch)


def project(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def scanned(root: Path, **settings: object) -> Scan:
    return scan(root, options=Options(), strict=True, **settings)  # type: ignore[arg-type]


def found(result: Scan) -> list[tuple[str, int, str]]:
    return [(file.path, place.region[0], remark.number) for file, remark, place in result.remarks()]


def test_a_project_without_anything_of_interest_is_fine(tmp_path: Path) -> None:
    result = scanned(project(tmp_path, {"a.fake": "nothing\n", "photo.png": b"\x89PNG\0", "empty.fake": ""}))
    assert [(file.path, file.lines, file.remarks) for file in result.files] == [
        ("a.fake", 1, ()),
        ("empty.fake", 0, ()),
    ]
    assert (result.quality, result.remaining(unsafe=False, delivered=False)) == ((), 0)
    assert scanned(project(tmp_path / "none", {"x.png": b"\0"})).files == ()


def test_files_are_read_in_order_with_places(tmp_path: Path) -> None:
    root = project(tmp_path, {"b/x.fake": "one\n  cuda", "a.fake": "apex\r\nnccl\r\n", "c.other": "cuda"})
    assert found(scanned(root)) == [("a.fake", 1, "TW601"), ("a.fake", 2, "TW301"), ("b/x.fake", 2, "TW101")]
    file, _, place = list(scanned(root).remarks())[2]
    assert (place.region, place.before, place.after) == ((2, 3, 2, 7), "  cuda", "  npu")
    assert (file.language, file.lines, file.size_bytes) == ("fake", 2, 10)


def test_a_single_file_is_a_project(tmp_path: Path) -> None:
    project(tmp_path, {"a.fake": "cuda", "b.fake": "cuda"})
    result = scanned(tmp_path / "a.fake")
    assert (found(result), result.root, result.only) == ([("a.fake", 1, "TW101")], tmp_path, "a.fake")


def test_many_processes_find_what_one_finds(tmp_path: Path) -> None:
    filler = "x" * 20_000
    root = project(tmp_path, {f"{n}/f.fake": f"{filler}\ncuda apex {n}\n" for n in range(80)})
    steps: list[tuple[int, int, int]] = []
    one = scanned(root)
    many = scanned(root, jobs=2, on_progress=lambda *step: steps.append(step))
    assert many.files == one.files
    assert many.project == one.project
    assert (steps[-1], max(step[1] for step in steps)) == ((0, 160, 160), 160)


def test_an_error_of_ours_costs_one_file_and_is_named(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.fake": "cuda", "bad.fake": "boom", "c.fake": "cuda"})
    result = scan(root, options=Options())
    assert [file.path for file in result.files] == ["a.fake", "c.fake"]
    (note,) = result.quality
    assert (note.code, note.file) == ("internal-error", "bad.fake")
    assert "ZeroDivisionError: our own mistake" in note.example
    with pytest.raises(ZeroDivisionError):
        scanned(root)


@pytest.mark.parametrize(
    ("code", "kept", "note"),
    [
        ("x = cuda\n", ["TW101"], []),
        ("x = cuda(wreck)\n", [], ["edits-withdrawn"]),
        ("this does not parse: cuda wreck\n", ["TW101", "TW101"], []),
    ],
)
def test_edits_that_would_break_a_python_file_are_withdrawn(
    tmp_path: Path, code: str, kept: list[str], note: list[str]
) -> None:
    result = scanned(project(tmp_path, {"a.py": code}))
    (file,) = result.files
    assert [remark.number for remark in file.safe] == kept
    assert [entry.code for entry in result.quality] == note
    assert all(remark.outcome == ("manual" if note else "replaced") for remark in file.remarks)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("cuda # nothing to see", ["TW101"]),
        ("cuda # trainwright: ignore", []),
        ("cuda apex # trainwright: ignore[TW101]", ["TW601"]),
        ("cuda apex # trainwright: ignore[device-strings, TW6]", []),
        ("cuda # trainwright: ignore[TW999]", ["TW101"]),
        ("cuda // trainwright: ignore", []),
        ("# trainwright: ignore\ncuda", ["TW101"]),
        ("one\n  # trainwright: ignore-file\ncuda", []),
        ("# trainwright: ignore-file[TW1]\ncuda apex", ["TW601"]),
        ("text about `# trainwright: ignore-file`\ncuda", ["TW101"]),
    ],
)
def test_comments_silence(tmp_path: Path, text: str, numbers: list[str]) -> None:
    result = scanned(project(tmp_path, {"a.fake": text}))
    assert [remark.number for _, remark, _ in result.remarks()] == numbers
    assert result.files[0].suppressed == text.count("cuda") + text.count("apex") - len(numbers)


@pytest.mark.parametrize(
    ("select", "ignore", "numbers"),
    [
        ((), (), ["TW101", "TW201", "TW301", "TW601"]),
        (("TW1",), (), ["TW101"]),
        (("TW1,amp",), (), ["TW101", "TW201"]),
        ((), ("process-group", "TW6"), ["TW101", "TW201"]),
        (("TW",), ("TW601",), ["TW101", "TW201", "TW301"]),
        (("TW601",), ("TW6",), ["TW601"]),
    ],
)
def test_rules_are_selected(
    tmp_path: Path, select: tuple[str, ...], ignore: tuple[str, ...], numbers: list[str]
) -> None:
    root = project(tmp_path, {"a.fake": "cuda amp nccl apex"})
    assert [number for *_, number in found(scanned(root, select=select, ignore=ignore))] == numbers


def test_an_unknown_rule_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean device-strings"):
        scanned(tmp_path, select=["device-string"])
    with pytest.raises(InputError, match="'TW9'"):
        scanned(tmp_path, ignore=["TW9"])


def test_what_tools_make_and_links_are_left_out(tmp_path: Path) -> None:
    inside = {"pkg/m.fake": "cuda", "build/__init__.fake": "x", "build/__init__.py": "", "dist/x.fake": "x"}
    outside = [
        ".git/x.fake", "node_modules/x.fake", "pkg/__pycache__/x.fake", ".venv/x.fake", "lib/site-packages/x.fake",
        "my.egg-info/x.fake", "env/pyvenv.cfg", "env/x.fake",
    ]  # fmt: skip
    root = project(tmp_path / "p", inside | dict.fromkeys(outside, "x"))
    project(tmp_path, {"other/y.fake": "x"})
    (root / "link").symlink_to(tmp_path / "other")
    (root / "link.fake").symlink_to(tmp_path / "other" / "y.fake")
    (root / "loop").symlink_to(root)
    assert [file.path for file in scanned(root).files] == ["build/__init__.fake", "build/__init__.py", "pkg/m.fake"]


def test_what_git_ignores_is_left_out_and_what_it_tracks_is_not(tmp_path: Path) -> None:
    root = project(
        tmp_path, {".gitignore": "out/\n*.tmp.fake\n", "out/x.fake": "x", "a.tmp.fake": "x", "build/b.fake": "x"}
    )
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    assert [file.path for file in scanned(root).files] == ["build/b.fake"]


@pytest.mark.parametrize("globs", [("b*",), ("lib",), ("lib/b.fake",), ("./lib/",), ("*.fake",), ("lib/*",)])
def test_globs_exclude(tmp_path: Path, globs: tuple[str, ...]) -> None:
    root = project(tmp_path, {"a.py": "", "lib/b.fake": "x"})
    assert [file.path for file in scanned(root, exclude=globs).files] == ["a.py"]


def test_odd_names_and_unreadable_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(
        tmp_path,
        {os.fsdecode(b"caf\xe9.fake"): "cuda", "big.fake": "cuda", "big.bin": "cuda", "new\nline.fake": "cuda"},
    )
    monkeypatch.setattr("trainwright.migrate.engine.MOST_BYTES", 3)
    assert next((note.code, note.file) for note in scanned(root).quality) == ("too-large", "big.fake")
    assert len(scanned(root).quality) == 3
    monkeypatch.undo()
    use_fake(monkeypatch)

    def refuse(root: str | Path, path: str, *, most: int = -1) -> bytes:
        raise PermissionError(13, "Permission denied")

    assert len(scanned(root).files) == 3
    monkeypatch.setattr("trainwright.migrate.engine.read_bytes", refuse)
    result = scanned(root)
    assert (result.files, {note.code for note in result.quality}) == ((), {"unreadable-file"})


def test_a_path_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no"):
        scanned(tmp_path / "missing")
