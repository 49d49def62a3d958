"""Every real profile loads or is refused with a reason; the table says what was read, lost and repaired."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainwright.core.errors import NotAProfileError
from trainwright.trace.discover import Discovery, discover
from trainwright.trace.ingest import open_run

#: Files that are damaged themselves (a row with missing cells), by the end of their path, and the events that costs.
DAMAGED = {
    "run_1/normal_run/profiler/framework_raw_1.csv": 1,
    "test_rank_0/ASCEND_PROFILER_OUTPUT/kernel_details.csv": 1,
    "test_kernel_parse/op_summary_1.csv": 1,
}


#: Files that are no profiles and that no reader needs to speak of: notes, and data of other tools.
NO_PROFILES = (
    "README.md",
    "meta-AR.yaml",
    "decode_0.csv",
    "prefill_0.csv",
)


def groups(profiles: Path) -> list[Path]:
    """Inputs a user would point at: the folders below the collections."""
    return sorted(path for folder in profiles.iterdir() if folder.is_dir() for path in folder.iterdir())


def passed_over(path: Path, found: Discovery) -> list[str]:
    """Files below `path` that no source reads or covers and no refusal names."""
    spoken: set[Path] = {refusal.path for refusal in found.refusals}
    for unit in found.units:
        for part in unit.parts:
            spoken |= {*part.files, *part.covers}
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return [str(file) for file in files if file.name not in NO_PROFILES and not spoken & {file, *file.parents}]


@pytest.mark.shared_data
def test_every_profile_loads_or_is_refused_with_a_reason(profiles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    silent: list[str] = []
    for path in groups(profiles):
        shown = path.relative_to(profiles)
        try:
            found = discover([path])
        except NotAProfileError as error:
            reasons = [line.strip() for line in error.what.splitlines()[1:]] or ["not a profile"]
            lines.append(f"{shown!s:60} refused: {reasons[0][-60:]}")
            continue
        run = open_run([path])
        silent += passed_over(path, found)
        assert len(run.ranks) + sum(note.code == "rank-not-read" for note in run.quality) == len(found.units)
        for rank in run.ranks:
            counts = [rank.manifest[key] for key in ("events", "lost", "repaired")]
            lines.append(f"{rank.unit.path.relative_to(profiles)!s:100} {counts[0]:9,} {counts[1]:5} {counts[2]:5}")
            files = [str(path) for part in rank.unit.parts for path in part.files]
            allowed = sum(cost for end, cost in DAMAGED.items() if any(file.endswith(end) for file in files))
            assert counts[1] == allowed, f"{rank.unit.path} lost {counts[1]} events: {rank.quality}"
        for refusal in found.refusals:
            lines.append(f"{refusal.path.relative_to(profiles)!s:100} refused: {refusal.reason}")
            assert refusal.reason
    with capsys.disabled():
        print(f"\n{'profile':100} {'events':>9} {'lost':>5} {'fixed':>5}")
        print("\n".join(lines))
    assert len(lines) > 50
    assert not silent, "neither read nor refused: " + ", ".join(silent)
