"""Draw findings at random for labelling by hand, and compute the precision out of the labels."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from measure import CannotRunError

COLUMNS = (
    "package", "file", "line", "number", "safety", "outcome", "title", "advice", "before", "after", "context", "label",
)  # fmt: skip
LABELS = {"right": True, "wrong": False}
#: What can be drawn from, and judged by itself.
GROUPS = ("all", "safe", "blocked")
AIMS = {"safe": 0.995, "blocked": 0.98}
BEFORE_LINES = 2
CONTEXT_LINES = 5


def findings_of(files: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """All findings of all packages, in a fixed order; `files` is package -> its JSON lines."""
    for package in sorted(files):
        with files[package].open(encoding="utf-8") as lines:
            for line in lines:
                yield {"package": package} | json.loads(line)


def in_group(finding: Mapping[str, Any], group: str) -> bool:
    """Whether a finding belongs to a group: a safe fix, or something said to have no counterpart."""
    if group == "safe":
        return bool(finding["safety"] == "safe")
    return group == "all" or bool(finding["outcome"] == "blocked")


def drawn(findings: Iterable[dict[str, Any]], *, count: int, seed: int, group: str) -> list[dict[str, Any]]:
    """`count` findings of a group, each as likely as any other; equal seeds give equal samples."""
    wanted = [finding for finding in findings if in_group(finding, group)]
    chosen = Random(seed).sample(range(len(wanted)), min(count, len(wanted)))
    return [wanted[index] for index in sorted(chosen)]


def write_sample(path: Path, findings: Iterable[dict[str, Any]], roots: Mapping[str, Path]) -> None:
    """Write a sample as CSV with an empty column ``label``."""
    text = io.StringIO(newline="")
    rows = csv.DictWriter(text, COLUMNS)
    rows.writeheader()
    for finding in findings:
        context = context_of(roots[finding["package"]] / finding["file"], finding["line"])
        rows.writerow(finding | {"context": context, "label": ""})
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        staged.write_text(text.getvalue(), encoding="utf-8", errors="backslashreplace", newline="")
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def context_of(path: Path, line: int) -> str:
    """The lines around a finding, numbered."""
    lines = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = max(line - 1 - BEFORE_LINES, 0)
    shown = lines[first : first + CONTEXT_LINES]
    return "\n".join(f"{number}: {text[:200]}" for number, text in enumerate(shown, first + 1))


@dataclass(frozen=True, kw_only=True)
class Precision:
    """How many findings of a group are right; `aim` is None where none is set. An aim is met when all are labelled."""

    group: str
    right: int
    labelled: int
    unlabelled: int
    aim: float | None

    @property
    def share(self) -> float:
        return self.right / self.labelled if self.labelled else 0.0

    @property
    def met(self) -> bool:
        return self.aim is None or (not self.unlabelled and self.share >= self.aim)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the true share (Wilson)."""
        if not self.labelled:
            return 0.0, 1.0
        z, n, p = 1.96, self.labelled, self.share
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(middle - half, 0.0), min(middle + half, 1.0)

    def __str__(self) -> str:
        low, high = self.interval
        left = f", {self.unlabelled} not labelled yet" if self.unlabelled else ""
        aim = "" if self.aim is None else f", aim {100 * self.aim:.1f} %: {'met' if self.met else 'MISSED'}"
        return (
            f"{self.group}: {self.right} of {self.labelled} right, {100 * self.share:.1f} % "
            f"(95 %: {100 * low:.1f} to {100 * high:.1f}){left}{aim}"
        )


def precisions(path: Path) -> list[Precision]:
    """The precision of each group that a labelled sample has findings of.

    Raises:
        CannotRunError: no such file, or a label that is none.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRunError(f"cannot read the labels: {error}") from error
    missing = [name for name in ("safety", "outcome", "label") if rows and name not in rows[0]]
    if not rows or missing:
        raise CannotRunError(f"{path} is no labelled sample: {', '.join(missing) or 'it is empty'}")
    for number, row in enumerate(rows, 1):
        row["label"] = (row["label"] or "").strip().lower()
        if row["label"] and row["label"] not in LABELS:
            allowed = ", ".join(LABELS)
            raise CannotRunError(f"{path}: finding {number} is labelled {row['label']!r}; allowed: {allowed}, or empty")
    return [precision(rows, group) for group in GROUPS if any(in_group(row, group) for row in rows)]


def precision(rows: Iterable[Mapping[str, str]], group: str) -> Precision:
    labels = [row["label"] for row in rows if in_group(row, group)]
    given = [LABELS[label] for label in labels if label]
    return Precision(
        group=group,
        right=sum(given),
        labelled=len(given),
        unlabelled=len(labels) - len(given),
        aim=AIMS.get(group),
    )
