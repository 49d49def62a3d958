"""The corpus of the migration benchmark: source archives of public packages, pinned by version and content.

They come from the package index that pip is set up for, are checked against the pinned SHA-256 and the one that the
index gives, and are unpacked into the work folder. Nothing of them is ever built or run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from measure import CannotRunError

ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
TIMEOUT_S = 180
MOST_BYTES = 2 << 30  # unpacked, of one archive
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Package:
    """One source archive: `name` as people write it, `sha256` of the ``.tar.gz``."""

    name: str
    version: str
    sha256: str

    @property
    def filename(self) -> str:
        return f"{re.sub(r'[-_.]+', '_', self.name).lower()}-{self.version}.tar.gz"


PACKAGES = {
    name: Package(name=name, version=version, sha256=sha256)
    for name, version, sha256 in (
        ("deepspeed", "0.19.8", "9e491abd0827ea5c389dd702e15e11e13d83d904bac4a20d6c2a4cb37207a9af"),
        ("megatron-core", "0.19.2", "de643eee32007a7504ad52f061103fe7432503603b6321c16c861eb67dbd3353"),
        ("mmcv", "2.2.0", "ac479247e808d8802f89eadf04d4118de86bdfe81361ec5aed0cc1bf731c67c9"),
        ("xformers", "0.0.35", "f7fc183a58e4bf0e2ae339a18fb1b1d4a37854c0f2545b4f360fef001646ab76"),
        ("bitsandbytes", "0.42.0", "fc1505f184f0d275766f2a6c663f1a43b734c1409b5c5a406f3a6073d9f329fd"),
        ("flash-attn", "2.8.3.post2", "d0f9f0b08a986cdeadbffcf5ec8b3a8f514366c68ad1853d3ab061bc83cc340b"),
        ("vllm", "0.34.0", "fcad848b246a9d8652b47e6425af92334dc02492f9802720f54e27b823cf0113"),
        ("fairseq", "0.12.2", "34f1b18426bf3844714534162f065ab733e049597476daa35fffb4d06a92b524"),
        ("ultralytics", "8.4.190", "c7a0ebb21d10f1de98682b6a4dc22bc0d1d0634b9398c086bd03b1e5bf40cbc3"),
        ("open_clip_torch", "3.3.0", "904b1a9f909df8281bb3de60ab95491cd2994a509177ea4f9d6292a84fe24d6d"),
        ("timm", "1.0.31", "baa0b333339c46d3d6d4965d99b69f5053afed71210e8f433d7ea5ee6a18f0ec"),
        ("accelerate", "1.16.0", "43c446b9affb145220946a63fe32e14e968fcfca645d25b5f1f3fdbc375657ae"),
        ("diffusers", "0.42.1", "ce855ab670c8cd1c7a61be8f12fbc68c081bca8ec5e747273946d8d6c2aff23b"),
        ("torchtitan", "0.3.0", "6351b2dc6cdd8bdad15cd2ce5d9520e391a75b584770d2ebd925cc3321cd1b47"),
        ("mamba-ssm", "2.3.2.post1", "104cc47e9101e5401a675fa2b784f2952b9b037f3b1dd83b5ac544394e95d028"),
    )
}


def unpacked(package: Package, work: Path) -> Path:
    """The folder with the sources of a package, fetched and unpacked when it is not there yet."""
    folder = work / "sources" / f"{package.name}-{package.version}"
    if folder.is_dir():
        return folder
    archive = work / "archives" / package.filename
    if not archive.exists() or digest(archive) != package.sha256:
        fetch(package, archive)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpack-") as staged:
        unpack(archive, Path(staged))
        tops = list(Path(staged).iterdir())
        if len(tops) != 1 or not tops[0].is_dir():
            raise CannotRunError(f"{archive.name} holds {len(tops)} entries at its top instead of one folder")
        tops[0].rename(folder)
    return folder


def unpack(archive: Path, target: Path) -> None:
    """Extract an archive; nothing may leave `target`, and no special file is made."""
    if not hasattr(tarfile, "data_filter"):
        raise CannotRunError(f"Python {sys.version.split()[0]} cannot extract safely: use a newer patch release")
    with tarfile.open(archive) as opened:
        size_bytes = sum(member.size for member in opened)
        if size_bytes > MOST_BYTES:
            raise CannotRunError(f"{archive.name} unpacks to {size_bytes} bytes, more than {MOST_BYTES}")
        try:
            opened.extractall(target, filter="data")
        except tarfile.FilterError as error:
            raise CannotRunError(f"{archive.name}: {error}") from error


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


# ---- the index -----------------------------------------------------------------------------------------------------


def fetch(package: Package, archive: Path) -> None:
    """Download the archive of a package; it takes its name only when its content is what was pinned."""
    page = f"{index_url().rstrip('/')}/{re.sub(r'[-_.]+', '-', package.name).lower()}/"
    files = listed(page)
    if package.filename not in files:
        raise CannotRunError(f"the package index has no {package.filename}")
    url, sha256 = files[package.filename]
    if sha256 and sha256 != package.sha256:
        raise CannotRunError(f"the package index gives another SHA-256 for {package.filename} than was pinned")
    print(f"fetching {package.filename} ...", file=sys.stderr)
    archive.parent.mkdir(parents=True, exist_ok=True)
    staged = archive.with_name(f".{archive.name}.{os.getpid()}")
    try:
        with opened(url) as response, staged.open("wb") as file:
            shutil.copyfileobj(response, file, CHUNK_BYTES)
        if digest(staged) != package.sha256:
            raise CannotRunError(f"{package.filename} arrived with another SHA-256 than was pinned")
        staged.replace(archive)
    finally:
        staged.unlink(missing_ok=True)


def index_url() -> str:
    """The simple index that the user's pip asks."""
    if given := os.environ.get("PIP_INDEX_URL"):
        return given
    ask = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout.strip()
    default = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    done = subprocess.run([sys.executable, "-c", default], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRunError("pip is not installed here, so the package index is not known: set PIP_INDEX_URL")
    return done.stdout.strip()


def listed(page: str) -> dict[str, tuple[str, str]]:
    """The files on a page of a simple index, as JSON or HTML: name -> (URL, SHA-256 or nothing)."""
    with opened(page) as response:
        base, kind, content = response.geturl(), response.headers.get_content_type(), response.read().decode()
    if kind.endswith("+json"):
        files = json.loads(content)["files"]
        return {
            file["filename"]: (urllib.parse.urljoin(base, file["url"]), file["hashes"].get("sha256", ""))
            for file in files
        }
    anchors = Anchors()
    anchors.feed(content)
    links = [urllib.parse.urlsplit(urllib.parse.urljoin(base, link)) for link in anchors.links]
    return {
        urllib.parse.unquote(Path(link.path).name): (link._replace(fragment="").geturl(), fragment_hash(link.fragment))
        for link in links
    }


def fragment_hash(fragment: str) -> str:
    name, _, value = fragment.partition("=")
    return value if name == "sha256" else ""


class Anchors(HTMLParser):
    """Collects where the links of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links += [value for name, value in attrs if name == "href" and value]


def opened(url: str) -> Any:
    """The response to a request."""
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": ACCEPT}), timeout=TIMEOUT_S)
    except (urllib.error.URLError, OSError) as error:
        raise CannotRunError(f"the package index does not answer: {error}") from error
