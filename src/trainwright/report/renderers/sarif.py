"""SARIF 2.1.0: the findings about source files for code hosts and editors, with fixes.

Only findings that stand in a file are results. File names are relative to the folder that was looked at and
percent-encoded; columns count characters.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from trainwright import __version__
from trainwright.core.result import Finding, Quality, Replacement
from trainwright.report.atomic import write_file
from trainwright.report.contract import strict
from trainwright.report.renderer import Page

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "SRCROOT"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_FIXES = {"safe": "Apply the edit", "unsafe": "Apply the edit; look at it first, it may change what the program does"}


@dataclass(frozen=True, kw_only=True)
class Sarif:
    """The renderer."""

    code: str = "sarif"
    summary: str = "Findings in source files as SARIF 2.1.0, with fixes, for code hosts and editors."
    target: Literal["text", "file", "folder"] = "file"

    def render(self, page: Page) -> str:
        """The log as ASCII text; equal results give equal text."""
        return json.dumps(strict(_log(page)), indent=1, allow_nan=False) + "\n"

    def write(self, page: Page, path: Path, *, force: bool = False) -> list[Path]:
        """Write the log to a file."""
        return [write_file(path, self.render(page), mark=_mark(), force=force)]


def _mark() -> str:
    """How every log begins: by this we know one of ours."""
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "trainwright"}}}]}
    text = json.dumps(log, indent=1)
    return text[: text.index('"trainwright"') + len('"trainwright"')]


def _log(page: Page) -> dict[str, Any]:
    findings = [finding for finding in page.result.findings if finding.where.file]
    codes = sorted({finding.code for finding in findings})
    seen: Counter[str] = Counter()
    results = [_result(finding, codes.index(finding.code), seen) for finding in findings]
    run = {
        "tool": {
            "driver": {"name": "trainwright", "version": __version__, "rules": [_rule(code, page) for code in codes]}
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The folder that was looked at."}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(entry) for entry in page.result.quality],
            }
        ],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, page: Page) -> dict[str, Any]:
    record: dict[str, Any] = {"id": code}
    if sentence := page.codes.get(code):
        record["shortDescription"] = {"text": sentence}
    return record


def _result(finding: Finding, index: int, seen: Counter[str]) -> dict[str, Any]:
    texts = (finding.title, finding.detail, finding.advice and f"What to do: {finding.advice}", finding.source)
    record: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(text for text in texts if text)},
        "locations": [{"physicalLocation": _location(finding)}],
        "partialFingerprints": {"trainwright/v1": _fingerprint(finding, seen)},
    }
    if finding.safety:
        record["properties"] = {"safety": finding.safety}
    if finding.replacements and finding.safety in _FIXES:
        record["fixes"] = [_fix(finding, _FIXES[finding.safety])]
    return record


def _location(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(finding)}
    where = finding.where
    if where.line is not None:
        region: dict[str, Any] = {"startLine": where.line}
        if where.column is not None:
            region["startColumn"] = where.column
            if finding.end is not None:
                region["endLine"], region["endColumn"] = finding.end
        location["region"] = region
    return location


def _artifact(finding: Finding) -> dict[str, Any]:
    return {"uri": quote(_file_bytes(finding.where.file or "")), "uriBaseId": _BASE}


def _file_bytes(name: str) -> bytes:
    """The name as it is on disk; a name that was never on a disk keeps what can be kept."""
    try:
        return name.encode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        return name.encode("utf-8", errors="replace")


def _fix(finding: Finding, text: str) -> dict[str, Any]:
    changes = {"artifactLocation": _artifact(finding), "replacements": list(map(_replacement, finding.replacements))}
    return {"description": {"text": text}, "artifactChanges": [changes]}


def _replacement(replacement: Replacement) -> dict[str, Any]:
    record: dict[str, Any] = {
        "deletedRegion": {
            "startLine": replacement.line,
            "startColumn": replacement.column,
            "endLine": replacement.end_line,
            "endColumn": replacement.end_column,
        }
    }
    if replacement.new:
        record["insertedContent"] = {"text": replacement.new}
    return record


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """The same for the same finding while other lines of the file move; equal ones in a file are numbered."""
    parts = (finding.code, finding.where.file or "", finding.title, finding.before or "")
    key = hashlib.sha256("\0".join(parts).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]
    seen[key] += 1
    return f"{key}:{seen[key]}"


def _notification(entry: Quality) -> dict[str, Any]:
    text = (
        f"{entry.code}, {entry.count} times: {entry.example}" if entry.example else f"{entry.code}, {entry.count} times"
    )
    where = f"{entry.file}: " if entry.file else ""
    return {"level": "warning", "message": {"text": f"{where}{text}"}}


RENDERER = Sarif()
