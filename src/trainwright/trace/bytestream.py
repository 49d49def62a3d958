"""Read a plain or gzip file front to back with bounded memory, refusing decompression bombs.

A compressed stream is refused when it unpacks to more than the limit of `trainwright.core.settings`, or to more than
`MAX_RATIO` times its size (real traces pack 10 to 40 times; a bomb packs 1000).
"""

from __future__ import annotations

import zlib
from pathlib import Path
from types import TracebackType
from typing import Any

from trainwright.core.errors import InputError, RefusedError
from trainwright.core.settings import max_input_bytes

GZIP_MAGIC = b"\x1f\x8b"
MAX_RATIO = 400
#: The ratio says nothing about small files.
RATIO_FREE_BYTES = 256 * 2**20
_COMPRESSED_BLOCK = 1 << 20
#: What zlib says of a member whose end does not fit its data, and the bytes of the end that are still to come then.
_WRONG_END = {"incorrect data check": 4, "incorrect length check": 0}


class ByteStream:
    """The unpacked bytes of a file, as a context manager.

    `damage` says after the end what is wrong with a compressed stream, empty when it is whole; `damage_code` is then
    ``truncated-stream`` where bytes are missing, ``bad-checksum`` where all were unpacked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        self.damage_code = ""
        self.unpacked = 0
        try:
            self.size = path.stat().st_size
            self._file = path.open("rb", buffering=0)
        except OSError as error:
            raise InputError(
                f"cannot read {path}: {error.strerror}", todo="check the path and its permissions"
            ) from error
        self._zip = zlib.decompressobj(wbits=31) if self._peek(2) == GZIP_MAGIC else None
        self._limit = max_input_bytes()
        self._pending = b""
        self._ended = False
        if self._zip is None and self.size > self._limit:
            raise _too_big(path, self.size, self._limit)

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def position(self) -> int:
        """Bytes of the file consumed so far (compressed bytes for a compressed file)."""
        return self._file.tell()

    def read(self, size: int) -> bytes:
        """The next `size` unpacked bytes, fewer only at the end.

        Raises:
            RefusedError: the stream unpacks to too much.
        """
        if self._ended:
            return b""
        if self._zip is None:
            return self._read_plain(size)
        parts: list[bytes] = []
        got = 0
        while got < size:
            part = self._unpack(size - got)
            if not part:
                break
            parts.append(part)
            got += len(part)
        self.unpacked += got
        self._check_ratio()
        return b"".join(parts)

    def _read_plain(self, size: int) -> bytes:
        block = self._file.read(size) or b""
        while 0 < len(block) < size:
            more = self._file.read(size - len(block))
            if not more:
                break
            block += more
        self.unpacked += len(block)
        return block

    def _unpack(self, size: int) -> bytes:
        """Some unpacked bytes, at most `size`; empty at the end or at damage."""
        while self._zip is not None:
            if self._zip.eof:  # gzip files may be several members end to end
                rest = self._zip.unused_data or self._file.read(_COMPRESSED_BLOCK) or b""
                if not rest.startswith(GZIP_MAGIC):
                    return b""
                self._zip, self._pending = zlib.decompressobj(wbits=31), rest
            if not self._pending:
                self._pending = self._file.read(_COMPRESSED_BLOCK) or b""
            ended = not self._pending
            before = self._zip.copy()  # zlib gives nothing of a block in which it finds an error
            try:
                out = self._zip.decompress(self._pending, size)
            except zlib.error as error:
                return self._up_to(error, before, size)
            self._pending = self._zip.unconsumed_tail
            if out:
                return out
            if ended and not self._zip.eof:
                self._damaged("truncated-stream", "the gzip stream ends early")
                return b""
        return b""

    def _up_to(self, error: zlib.error, state: Any, size: int) -> bytes:
        """What the pending bytes unpack to before the one at which `error` is found, which is then behind us."""
        parts: list[bytes] = []
        at, step = 0, len(self._pending)
        while step and at < len(self._pending):
            kept = state.copy()
            try:
                parts.append(state.decompress(self._pending[at : at + step], size))
                at += step
            except zlib.error:
                state, step = kept, step // 2
        rest = self._pending[at + 1 :]
        for wrong, following in _WRONG_END.items():
            if wrong in str(error):
                rest = (rest + (self._file.read(_COMPRESSED_BLOCK) or b""))[following:]
                self._damaged("bad-checksum", f"all was unpacked, but bytes of it may be wrong: {wrong}")
                break
        else:
            where = self._file.tell() - len(rest)
            self._damaged("truncated-stream", f"corrupt gzip data near compressed byte {where:,}: {error}")
            rest = b""
        self._zip = zlib.decompressobj(wbits=31) if rest.startswith(GZIP_MAGIC) else None
        self._ended, self._pending = self._zip is None, rest
        return b"".join(parts) or (b"" if self._ended else self._unpack(size))

    def _damaged(self, code: str, what: str) -> None:
        """Keep the first thing that is wrong, unless bytes are missing later on."""
        if not self.damage or code == "truncated-stream":
            self.damage, self.damage_code = what, code

    def _check_ratio(self) -> None:
        if self.unpacked > self._limit:
            raise _too_big(self.path, self.unpacked, self._limit)
        if self.unpacked > RATIO_FREE_BYTES and self.unpacked > MAX_RATIO * max(self.position, 1):
            raise RefusedError(
                f"{self.path} unpacks to more than {MAX_RATIO} times its size: this looks like a decompression bomb",
                todo="unpack it yourself and point at the unpacked file if you trust it",
            )

    def _peek(self, size: int) -> bytes:
        head = self._file.read(size) or b""
        self._file.seek(0)
        return head


def read_head(path: Path, size: int) -> bytes:
    """The first `size` unpacked bytes of a file, fewer where it is shorter or damaged.

    Raises:
        InputError: the file cannot be opened.
    """
    with ByteStream(path) as stream:
        return stream.read(size)


def _too_big(path: Path, size: int, limit: int) -> RefusedError:
    return RefusedError(
        f"{path} holds {size:,} bytes or more",
        allowed=f"{limit:,} bytes unpacked",
        todo="set TRAINWRIGHT_MAX_BYTES higher if you trust the file",
    )
