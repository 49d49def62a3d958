"""Plain and gzip files, whole and damaged."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from trainwright.trace.bytestream import ByteStream

#: Packs to some megabytes, so that the file is read in several blocks.
TEXT = random.Random(7).randbytes(3 << 20)


def unpacked(path: Path, data: bytes) -> tuple[bytes, str]:
    path.write_bytes(data)
    with ByteStream(path) as stream:
        return b"".join(iter(lambda: stream.read(1 << 19), b"")), stream.damage_code


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] if at >= 0 else flipped(data, len(data) + at)


def test_a_whole_stream_of_several_members_has_no_damage(tmp_path: Path) -> None:
    assert unpacked(tmp_path / "a.gz", gzip.compress(TEXT) + gzip.compress(b"more")) == (TEXT + b"more", "")


@pytest.mark.parametrize("at", [-8, -1])  # the checksum, the length
@pytest.mark.parametrize("text", [TEXT, b"short"])
def test_a_wrong_checksum_costs_nothing(tmp_path: Path, text: bytes, at: int) -> None:
    packed = flipped(gzip.compress(text), at)
    assert unpacked(tmp_path / "a.gz", packed) == (text, "bad-checksum")
    assert unpacked(tmp_path / "b.gz", packed + gzip.compress(b"more")) == (text + b"more", "bad-checksum")


def test_damaged_data_costs_what_is_behind_it(tmp_path: Path) -> None:
    text = b"".join(b"%d," % number for number in range(1_000_000))
    packed = bytearray(gzip.compress(text))
    packed[len(packed) // 2 :] = b"\xff" * (len(packed) - len(packed) // 2)
    got, code = unpacked(tmp_path / "a.gz", bytes(packed))
    assert code == "truncated-stream"
    assert len(text) * 0.4 < len(got) < len(text)
    assert text.startswith(got[: len(text) * 2 // 5])


def test_a_cut_stream_gives_what_is_there(tmp_path: Path) -> None:
    got, code = unpacked(tmp_path / "a.gz", gzip.compress(TEXT)[:-100_000])
    assert code == "truncated-stream"
    assert len(got) > len(TEXT) - 110_000
    assert TEXT.startswith(got)
