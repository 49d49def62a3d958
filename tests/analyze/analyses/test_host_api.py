"""Runtime calls by name."""

from __future__ import annotations

from pathlib import Path

from tests.analyze.make_run import RankBuilder
from trainwright.analyze.analyses.host_api import analyze


def test_calls_by_name(tmp_path: Path) -> None:
    builder = RankBuilder(2).host("cudaLaunchKernel", 0, 4, kind="runtime").host("cudaFree", 10, 19, kind="runtime")
    builder.host("cudaLaunchKernel", 20, 21, kind="runtime", thread="other").host("aten::mm", 30, 90)
    assert analyze(builder.build(tmp_path)).table("host_api").rows == [
        (2, "cudaFree", 1, 9, 9, 9, 9),
        (2, "cudaLaunchKernel", 2, 5, 3, 1, 4),
    ]
