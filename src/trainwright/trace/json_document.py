"""Read a JSON file as one value, for the small files beside a trace: metadata, summaries, communication reports.

Event arrays go through `trainwright.trace.json_events` instead, which needs no more memory for a longer file.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from trainwright.core.errors import InputError, RefusedError
from trainwright.trace.bytestream import ByteStream

#: Largest file parsed as one value; parsing takes about ten times as much memory.
MAX_DOCUMENT_BYTES = 512 << 20


def read_document(path: Path, *, exact: bool = False) -> Any:
    """The value of a plain or gzip JSON file. Bytes that are not UTF-8 become replacement characters.

    Args:
        path: the file.
        exact: fractions as `Decimal`: a float64 cannot hold a time since the epoch to the nanosecond.

    Raises:
        InputError: the file cannot be opened, is damaged, or is not JSON; the message says where.
        RefusedError: it is larger than `MAX_DOCUMENT_BYTES`.
    """
    with ByteStream(path) as stream:
        data = stream.read(MAX_DOCUMENT_BYTES + 1)
        damage = stream.damage
    if len(data) > MAX_DOCUMENT_BYTES:
        raise RefusedError(f"{path} is too large to be read as one JSON value", allowed=f"{MAX_DOCUMENT_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig", "replace")
        return json.loads(text, strict=False, parse_float=Decimal if exact else None)
    except RecursionError:
        raise InputError(f"{path} is nested too deeply to be read", todo="check the file") from None
    except ValueError as error:
        why = damage or str(error)
        raise InputError(f"{path} is not valid JSON: {why}", todo="write the file again") from error
