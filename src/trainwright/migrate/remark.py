"""What a rule says about a place in a file: a remark, and the edits that would settle it.

Places are byte offsets into the original bytes of the file, so that an edit can never touch a byte it does not name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: ``safe``: applied unless the user says no. ``unsafe``: applied with ``--unsafe``. ``display``: never applied.
Safety = Literal["safe", "unsafe", "display"]
#: How sure the name, the flow or the type behind a remark is.
Confidence = Literal["resolved", "inferred", "guessed"]
#: ``replaced``: the edits settle it. ``manual``: somebody must decide or change something. ``blocked``: there is no
#: counterpart on the NPU, the program cannot run until it is replaced. ``note``: nothing has to be done.
Outcome = Literal["replaced", "manual", "blocked", "note"]


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replace the bytes ``start:end`` of the original file by `new` (text; encoded as the file is)."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One thing found in one file.

    Args:
        number: the rule's number (``"TW101"``).
        start, end: the bytes in question (shown as "before" when there are no edits).
        title: one line that names the thing found (``torch.cuda.nvtx.range_push has no NPU counterpart``).
        detail: why it matters here; empty when the title says all.
        advice: the way out, concrete; names what to write instead.
        outcome: see `Outcome`.
        safety: of the edits; ``display`` when there are none.
        confidence: see `Confidence`; a guessed remark is never a safe edit.
        edits: applied together or not at all; must not overlap each other.
        registers: the edits need ``import torch_npu`` in this file (Python only).
        minutes: what a person needs for the rest of the work; 0 when the edits settle it.
        evidence: where the knowledge comes from.
        name: the API, library, variable or kernel the remark is about, when there is one.
    """

    number: str
    start: int
    end: int
    title: str
    detail: str = ""
    advice: str = ""
    outcome: Outcome = "replaced"
    safety: Safety = "display"
    confidence: Confidence = "resolved"
    edits: tuple[Edit, ...] = ()
    registers: bool = False
    minutes: int = 0
    evidence: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        assert bool(self.edits) == (self.safety != "display"), f"{self.title}: edits and safety disagree"
        assert self.outcome != "replaced" or self.edits, f"{self.title}: replaced by nothing"
        assert self.confidence != "guessed" or self.safety != "safe", f"{self.title}: a guess is never safe"
