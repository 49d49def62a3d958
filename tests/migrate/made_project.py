"""A project of a few files, migrated into a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainwright.migrate.copy import write_copy
from trainwright.migrate.engine import scan
from trainwright.migrate.options import Options, Style
from trainwright.migrate.remark import Remark
from trainwright.migrate.scan import Scan


@dataclass(frozen=True, kw_only=True)
class Made:
    """A scan and the folder its migrated copy lies in."""

    scan: Scan
    out: Path

    def data(self, path: str) -> bytes:
        """The migrated bytes of a file."""
        return (self.out / path).read_bytes()

    def text(self, path: str) -> str:
        """The migrated text of a file."""
        return self.data(path).decode()

    def mode(self, path: str) -> int:
        """The permission bits of a migrated file."""
        return (self.out / path).stat().st_mode & 0o777

    def found(self) -> Iterator[tuple[str, Remark]]:
        """Every remark with the path of its file."""
        return ((file.path, remark) for file in self.scan.files for remark in file.remarks)

    def remarks(self, number: str = "", path: str = "") -> list[Remark]:
        """The remarks, of one rule or one file when asked."""
        return [remark for at, remark in self.found() if number in ("", remark.number) and path in ("", at)]


def made(
    folder: Path,
    files: Mapping[str, str | bytes],
    *,
    style: Style = "npu",
    unsafe: bool = False,
    modes: Mapping[str, int] | None = None,
) -> Made:
    """Write the files, scan them strictly, and write the migrated copy; a second run must find nothing to edit."""
    root, out = folder / "project", folder / "migrated"
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod((modes or {}).get(name, 0o644))
    scanned = scan(root, options=Options(style=style), strict=True)
    assert not [note for note in scanned.quality if note.code in ("edits-withdrawn", "internal-error")]
    write_copy(scanned, out, unsafe=unsafe)
    again = scan(out, options=Options(style=style), strict=True)
    left = [remark for file in again.files for remark in file.remarks if remark.safety == "safe" and remark.edits]
    assert not left, f"a second run edits again: {left}"
    return Made(scan=scanned, out=out)
