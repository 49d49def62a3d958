"""A file that cannot be parsed is reported, with the lines that mention CUDA (rule unreadable_files)."""

from __future__ import annotations

from tests.migrate.python.check import remarks_of


def test_python_2_is_reported_and_nothing_else_is_said() -> None:
    found = remarks_of('import torch\nx = 1\nprint "loss", loss.cuda()\n')
    assert [(remark.number, remark.outcome, remark.edits) for remark in found] == [("TW901", "manual", ())]
    assert "by text alone: 3" in found[0].detail


def test_a_broken_file_without_cuda_is_a_note() -> None:
    assert [remark.outcome for remark in remarks_of("print 1\n")] == ["note"]
    assert [remark.outcome for remark in remarks_of("x = '\0'\n")] == ["note"]
