from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.migrate.fake_language import use_fake
from tests.migrate.test_engine import project, scanned
from trainwright.core.errors import InputError, OutputError
from trainwright.migrate import deliver
from trainwright.migrate.copy import write_copy
from trainwright.migrate.deliver import diff, write_in_place
from trainwright.migrate.diff import unified
from trainwright.migrate.remark import Edit
from trainwright.migrate.source import plain_source, python_source
from trainwright.migrate.splice import spliced


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake(monkeypatch)


def tree(root: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below a folder but .git: mode, and bytes or the target of a link."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(root.rglob("*")):
        if ".git" in path.relative_to(root).parts:
            continue
        mode = path.lstat().st_mode
        content: bytes | str = (
            str(path.readlink()) if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
        )
        found[str(path.relative_to(root))] = (mode, content)
    return found


def committed(root: Path) -> Path:
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    return root


def cut(data: bytes, old: bytes, new: str) -> Edit:
    at = data.index(old)
    return Edit(start=at, end=at + len(old), new=new)


LONG = "".join(f"line {n}\n" for n in range(40)).encode()


@pytest.mark.parametrize(
    ("data", "edits"),
    [
        (b"a\ncuda\nb\n", lambda data: [cut(data, b"cuda", "npu")]),
        (b"cuda", lambda data: [cut(data, b"cuda", "npu")]),
        (b"a\ncuda", lambda data: [cut(data, b"cuda", "npu")]),
        (b"import a\nx\n", lambda data: [Edit(start=9, end=9, new="import b\n")]),
        (b"x\n", lambda data: [Edit(start=2, end=2, new="y\n")]),
        (b"x", lambda data: [Edit(start=1, end=1, new="\ny\n")]),
        (b"", lambda data: [Edit(start=0, end=0, new="y\n")]),
        (b"a\nb\nc\n", lambda data: [Edit(start=2, end=4, new="")]),
        (b"a\nb\nc\n", lambda data: [Edit(start=1, end=4, new="")]),
        (b"a\n", lambda data: [Edit(start=0, end=2, new="")]),
        (LONG, lambda data: [cut(data, b"line 3\n", "x\ny\n"), cut(data, b"line 30", ""), cut(data, b"line 31\n", "")]),
        (LONG, lambda data: [cut(data, b"line 10\n", ""), cut(data, b"line 16\n", "z\n"), cut(data, b"line 24\n", "")]),
        (b"a\r\ncuda\r\nb\r\n", lambda data: [cut(data, b"cuda", "npu\nx")]),
        ("é cuda ü\n".encode(), lambda data: [cut(data, b"cuda", "npu")]),
        (b"\xff cuda \xfe\n", lambda data: [cut(data, b"cuda", "npu")]),
    ],
)
def test_git_applies_the_diff_to_the_same_bytes(
    tmp_path: Path, data: bytes, edits: Callable[[bytes], list[Edit]]
) -> None:
    source = plain_source("dir/a b.py", data)
    text = unified(source, edits(data))
    project(tmp_path, {"dir/a b.py": data})
    (tmp_path / "x.diff").write_bytes(text.encode("utf-8", errors="surrogateescape"))
    subprocess.run(["git", "apply", "--whitespace=nowarn", "x.diff"], cwd=tmp_path, check=True, timeout=20)
    changed = tmp_path / "dir/a b.py"
    assert (changed.read_bytes() if changed.exists() else b"") == spliced(source, edits(data))


def test_a_diff_without_a_change_is_empty() -> None:
    assert unified(plain_source("a", b"cuda\n"), []) == ""
    assert unified(plain_source("a", b"cuda\n"), [Edit(start=0, end=4, new="cuda")]) == ""


def test_the_diff_is_the_one_people_know(tmp_path: Path) -> None:
    root = project(tmp_path, {"a.fake": "one\ncuda\nnccl\n", "b.fake": "apex\n"})
    expected = "--- a/a.fake\n+++ b/a.fake\n@@ -1,3 +1,3 @@\n one\n-cuda\n+npu\n nccl\n"
    assert list(diff(scanned(root))) == [expected]
    assert "+hccl" in next(iter(diff(scanned(root), unsafe=True)))


def test_a_gbk_file_with_a_cookie_keeps_its_bytes(tmp_path: Path) -> None:
    data = "# -*- coding: gbk -*-\nx = '中文', cuda\n".encode("gbk")
    assert python_source("a.py", data).encoding == "gbk"
    write_in_place(scanned(project(tmp_path, {"a.py": data})), force=True)
    assert (tmp_path / "a.py").read_bytes() == data.replace(b"cuda", b"npu")


def test_a_copy_is_whole_and_the_project_untouched(tmp_path: Path) -> None:
    root = project(
        tmp_path / "p",
        {"a.fake": "cuda nccl\r\n", "sub/run.sh": "#!/bin/sh\n", "data.bin": b"\0\xff" * 500, "sub/b.fake": "same"},
    )
    (root / "sub/run.sh").chmod(0o750)
    (root / "a.fake").chmod(0o640)
    (root / "empty/below").mkdir(parents=True)
    (root / "sub/link").symlink_to("../a.fake")
    (root / "dangling").symlink_to("nowhere")
    before = tree(root)
    copied = write_copy(scanned(root), tmp_path / "out")
    assert (copied.changed, copied.files, copied.notes) == (("a.fake",), 4, ())
    mode, _ = before["a.fake"]
    assert tree(tmp_path / "out") == before | {"a.fake": (mode, b"npu nccl\r\n")}
    assert tree(root) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "p"]


def test_links_out_of_the_project_are_named_and_left_out(tmp_path: Path) -> None:
    root = project(tmp_path / "p", {"a.fake": "cuda"})
    (root / "up").symlink_to("../secret")
    (root / "absolute").symlink_to("/etc/passwd")
    copied = write_copy(scanned(root), tmp_path / "out")
    assert [(note.code, note.file) for note in copied.notes] == [
        ("link-not-copied", "absolute"),
        ("link-not-copied", "up"),
    ]
    assert list(tree(tmp_path / "out")) == ["a.fake"]


def test_one_file_is_copied_alone(tmp_path: Path) -> None:
    project(tmp_path, {"a.fake": "cuda", "b.fake": "cuda"})
    write_copy(scanned(tmp_path / "a.fake"), tmp_path / "out")
    assert {name: content for name, (_, content) in tree(tmp_path / "out").items()} == {"a.fake": b"npu"}


def test_a_copy_never_takes_the_place_of_what_is_not_ours(tmp_path: Path) -> None:
    result = scanned(project(tmp_path / "p", {"a.fake": "cuda"}))
    out = tmp_path / "out"
    project(out, {"mine.txt": "precious"})
    for force in (False, True):
        with pytest.raises(OutputError, match="not a copy this command wrote"):
            write_copy(result, out, force=force)
    (out / "mine.txt").unlink()
    write_copy(result, out)
    with pytest.raises(OutputError, match="--force"):
        write_copy(result, out)
    write_copy(result, out, force=True)
    (out / "results.txt").write_text("added")
    with pytest.raises(OutputError, match=r"first results\.txt"):
        write_copy(result, out, force=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="not a folder"):
        write_copy(result, tmp_path / "file", force=True)


@pytest.mark.parametrize("out", ["p", "p/out", ".", "p/../p/sub"])
def test_a_copy_is_never_inside_the_project(tmp_path: Path, out: str) -> None:
    result = scanned(project(tmp_path / "p", {"a.fake": "cuda"}))
    with pytest.raises(InputError, match="within each other"):
        write_copy(result, tmp_path / out)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_copy_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    result = scanned(project(tmp_path / "p", {"a.fake": "cuda", "b.fake": "cuda"}))

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("os.fchmod", fail)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        write_copy(result, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_in_place_needs_git_or_force(tmp_path: Path) -> None:
    root = project(tmp_path / "p", {"a.fake": "cuda", "b.fake": "cuda"})
    (root / "a.fake").chmod(0o755)
    with pytest.raises(InputError, match="not in a git repository"):
        write_in_place(scanned(root))
    committed(root)
    (root / "b.fake").write_text("cuda changed")
    with pytest.raises(InputError, match=r"not committed: b\.fake"):
        write_in_place(scanned(root))
    assert write_in_place(scanned(root / "a.fake")) == ("a.fake",)
    assert ((root / "a.fake").read_text(), (root / "a.fake").stat().st_mode & 0o777) == ("npu", 0o755)
    assert write_in_place(scanned(root), force=True) == ("b.fake",)
    assert write_in_place(scanned(root), force=True) == ()
    assert sorted(path.name for path in root.iterdir()) == [".git", "a.fake", "b.fake"]


@pytest.mark.parametrize("error", [OSError(30, "Read-only file system"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_failed_write_puts_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, at: int
) -> None:
    root = project(tmp_path / "p", {f"{name}.fake": f"cuda {name}" for name in "abc"})
    before, result, real = tree(root), scanned(root), Path.replace
    calls = iter(range(100))

    def replace(self: Path, target: Path) -> Path:
        if next(calls) == at:
            raise error
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        write_in_place(result, force=True)
    assert tree(root) == before


def test_a_file_that_changed_since_the_scan_is_not_touched(tmp_path: Path) -> None:
    root = project(tmp_path / "p", {"a.fake": "cuda", "b.fake": "cuda"})
    result = scanned(root)
    (root / "b.fake").write_text("cuda, edited meanwhile")
    actions: tuple[Callable[[], object], ...] = (
        lambda: list(diff(result)),
        lambda: write_in_place(result, force=True),
        lambda: write_copy(result, tmp_path / "o"),
    )
    for action in actions:
        with pytest.raises(InputError, match=r"b\.fake changed"):
            action()
    assert (root / "a.fake").read_text() == "cuda"
    assert not (tmp_path / "o").exists()
    (root / "b.fake").unlink()
    (root / "b.fake").symlink_to("a.fake")
    with pytest.raises(InputError, match="cannot read"):
        list(diff(result))


def test_odd_names_are_quoted_as_git_does(tmp_path: Path) -> None:
    names = ["tab\there.fake", 'quo"te.fake', os.fsdecode(b"caf\xe9.fake"), "näme.fake"]
    root = project(tmp_path, dict.fromkeys(names, "cuda\n"))
    (tmp_path / "x.diff").write_bytes("".join(diff(scanned(root))).encode("utf-8", errors="surrogateescape"))
    subprocess.run(["git", "apply", "x.diff"], cwd=tmp_path, check=True, timeout=20)
    assert {(root / name).read_text() for name in names} == {"npu\n"}


def test_the_changed_bytes_are_those_of_the_edits(tmp_path: Path) -> None:
    result = scanned(project(tmp_path, {"a.fake": "cuda nccl", "b.fake": "nccl"}))
    assert [(change.path, change.data) for change in deliver.changes(result)] == [("a.fake", b"npu nccl")]
    assert [change.data for change in deliver.changes(result, unsafe=True)] == [b"npu hccl", b"hccl"]
