"""Read damaged stretches of an event array one event at a time, repairing what can be repaired.

The fast path of `trainwright.trace.json_events` hands over the stretches that are not valid JSON. Damage seen in
public reports: unescaped quotes and newlines in names, Windows back-slashes, control characters, bytes that are not
UTF-8, a file cut in the middle. Damage costs the event it is in and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass, field

from trainwright.core.text import encodable

#: How far the closing brace of a damaged event is looked for.
SCAN_BYTES = 16 << 20
#: A well-formed string, a brace outside strings, or a quote that opens no well-formed string.
_TOKEN = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"|["{}]', re.DOTALL)
#: The end of one event and the first key of the next: where reading can start again.
_BOUNDARY = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|s|bp)"\s*:)|\}\s*(?=\]\s*(?:[,}]|$))')
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
#: An escape that may be half of a pair; JSON allows a lone one, but no text can hold it.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_NEXT_EVENT = re.compile(rb'\{\s*"')


@dataclass(frozen=True, kw_only=True)
class ReadEvent:
    """One event of a stretch: valid JSON text, its place, and what was repaired (empty: nothing)."""

    text: bytes
    offset: int
    size: int
    repair: str = ""


@dataclass(frozen=True, kw_only=True)
class LostEvent:
    """One event that could not be read."""

    offset: int
    reason: str
    text: bytes


@dataclass(kw_only=True)
class Stretch:
    """What was read from a stretch.

    `stop` is where reading ended (between events), `array_end` the position of the ``]`` that closes the array if it
    is here, `unfinished` the position of an event that goes on behind the data. Positions count from the start of the
    data, offsets of events from the start of the file.
    """

    events: list[ReadEvent] = field(default_factory=list)
    lost: list[LostEvent] = field(default_factory=list)
    stop: int = 0
    array_end: int | None = None
    unfinished: int | None = None


def read_stretch(data: bytes, at: int, *, offset: int, resume: Container[int], more: bool) -> Stretch:
    """Read events from position `at` until one starts at a position in `resume`, or to the end.

    Args:
        data: text of events.
        at: where to begin, at or between events.
        offset: offset of `data` in the file.
        resume: positions of events that are known to be well-formed.
        more: the file goes on behind `data`, so an event that does not close is unfinished rather than damaged.
    """
    result = Stretch()
    begin = at
    while at < len(data):
        char = data[at : at + 1]
        if char.isspace() or char == b",":
            at += 1
        elif char == b"]":
            result.array_end = at
            break
        elif char != b"{":
            at = _skip_garbage(data, at, offset, result)
        elif at > begin and at in resume:
            break
        else:
            stop = _read_event(data, at, offset, result, more=more)
            if stop is None:
                result.unfinished = at
                break
            at = stop
    result.stop = at
    return result


def _read_event(data: bytes, at: int, offset: int, result: Stretch, *, more: bool) -> int | None:
    """Read the event that starts at `at`; where to go on, None when it goes on behind the data."""
    boundary = _BOUNDARY.search(data, at)
    guess = boundary.start() + 1 if boundary else None
    for stop in (guess, _closing_brace(data, at)):
        if stop is not None and (text := _parse(data[at:stop])) is not None:
            repair = "" if text == data[at:stop] else _what_changed(data[at:stop])
            result.events.append(ReadEvent(text=text, offset=offset + at, size=stop - at, repair=repair))
            return stop
    if more and at + SCAN_BYTES > len(data):
        return None
    end = len(data) if guess is None else guess
    text = _parse(data[at:end], mend_quotes=True)
    if text is None:
        reason = "truncated" if guess is None else "malformed"
        result.lost.append(LostEvent(offset=offset + at, reason=reason, text=data[at : at + 200]))
    else:
        result.events.append(ReadEvent(text=text, offset=offset + at, size=end - at, repair="unescaped quotes"))
    return end


def _closing_brace(data: bytes, at: int) -> int | None:
    """The end of the object that opens at `at`, None when it does not close within reach."""
    depth = 0
    for token in _TOKEN.finditer(data, at, at + SCAN_BYTES):
        kind = token.group()
        if kind == b'"':
            return None
        if kind == b"{":
            depth += 1
        elif kind == b"}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _parse(raw: bytes, *, mend_quotes: bool = False) -> bytes | None:
    """Valid JSON text of one event: `raw` itself where it is valid, mended where possible, else None."""
    text = raw.decode("utf-8", errors="replace")
    attempts = [text, _BAD_ESCAPE.sub(r"\\\\", text)]
    if mend_quotes:
        attempts.append(_escape_inner_quotes(attempts[-1]))
    for attempt in attempts:
        try:
            event = json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict):
            return None
        return raw if _is_sound(raw) else encodable(json.dumps(event, ensure_ascii=False)).encode()
    return None


def _is_sound(raw: bytes) -> bool:
    """Whether any reader takes the JSON as it is."""
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return _SURROGATE.search(raw) is None or encodable(text := json.dumps(event, ensure_ascii=False)) == text


def _what_changed(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8"
    if _BAD_ESCAPE.search(text):
        return "bad escape"
    return "lone surrogate" if _SURROGATE.search(raw) else "control character"


def _escape_inner_quotes(text: str) -> str:
    """Escape quotes that cannot open or close a string: no ``{[,:`` before them and no ``,:}]`` after them."""
    out = []
    for at, char in enumerate(text):
        if char == '"' and (at == 0 or text[at - 1] != "\\"):
            before = text[:at].rstrip()[-1:]
            after = text[at + 1 :].lstrip()[:1] if len(text) < 1 << 16 else text[at + 1 : at + 2]
            if before not in "{[,:" and after not in ",:}]":
                out.append("\\")
        out.append(char)
    return "".join(out)


def _skip_garbage(data: bytes, at: int, offset: int, result: Stretch) -> int:
    """Step over bytes that start no event; one loss however long they are."""
    found = _NEXT_EVENT.search(data, at + 1)
    result.lost.append(LostEvent(offset=offset + at, reason="not an event", text=data[at : at + 200]))
    return found.start() if found else len(data)
