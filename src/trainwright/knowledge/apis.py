"""What the NPU makes of an API of torch: look it up for a torch version and a chip."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from trainwright.knowledge.kernels import Kernel, kernel
from trainwright.knowledge.support_table import FIXED
from trainwright.knowledge.surface import npu_name_exists
from trainwright.knowledge.tables import read_lines, read_rows

__all__ = ["ApiSupport", "api", "canonical", "closest", "npu_name_exists"]

#: ``limited``: supported, with limits of dtype or others. ``unlisted``: the tables do not speak of it, or not for this
#: chip: they leave the newest chip out for much that works there (`torch.tensor`), so leaving out is no "no".
Status = Literal["supported", "renamed", "limited", "cpu_fallback", "unsupported", "unlisted"]

_CHIPS = {"A2": "2", "A3": "3", "950DT": "D"}
#: Parts of torch that run on the host, whatever the device is: "no" means that nobody vouches for it, not that a
#: kernel is missing.
_HOST = (
    "torch.ao", "torch.autograd", "torch.distributed", "torch.export", "torch.func", "torch.fx", "torch.jit",
    "torch.nn.modules.module", "torch.nn.utils", "torch.onnx", "torch.optim", "torch.package", "torch.utils",
    "torch.hub", "torch.is_deterministic_algorithms_warn_only_enabled", "torch.sparse.check_sparse_tensor_invariants",
)  # fmt: skip
#: Parts of torch that speak to the device itself: there, "no" needs no second witness.
_ACCELERATOR = ("torch.cuda.", "torch.backends.cuda.", "torch.backends.cudnn.")


@dataclass(frozen=True, kw_only=True)
class ApiSupport:
    """What is known about one API, for one torch version and one chip.

    Args:
        name: as the support table lists it; the name asked for when it lists none.
        npu_name: what stands in for it on the NPU; empty when the name stays.
        dtypes: the data types it takes on the NPU; empty when no limit is listed.
        other_limit: the documentation states a limit beyond data types.
        versions: torch version -> ``yes``, ``no`` or the chips (``A2, A3``); versions that do not list it are absent.
        kernel: what the list of registered operators says.
        doubt: why an "unsupported" may not hold; empty when nothing speaks against it.
        evidence: where this comes from.
    """

    name: str
    status: Status
    npu_name: str = ""
    dtypes: tuple[str, ...] = ()
    other_limit: bool = False
    versions: Mapping[str, str]
    kernel: Kernel = ""
    doubt: str = ""
    evidence: str = ""


@cache
def _versions() -> tuple[str, ...]:
    header = read_lines("api_support.tsv")[0].split("\t")
    return tuple(column.removeprefix("torch") for column in header[len(FIXED) :])


@cache
def _table() -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in read_rows("api_support.tsv")}


@cache
def _aliases() -> dict[str, str]:
    return {row[0]: row[1] for row in read_rows("aliases.tsv")}


def canonical(name: str) -> str:
    """The name under which the support table lists what `name` stands for; `name` itself when it lists none."""
    return name if name in _table() else _aliases().get(name, name)


@cache
def api(name: str, *, torch: str, soc: str) -> ApiSupport:
    """What is known about a dotted name of torch, for a torch version (``2.8``) and a chip (``A2``)."""
    listed = canonical(name)
    row = _table().get(listed)
    if row is None:
        return ApiSupport(name=name, status="unlisted", versions={}, kernel=kernel(name))
    cells = dict(zip(_versions(), row[len(FIXED) :], strict=True))
    version = _column(torch)
    answer = _answer(cells, version=version, soc=soc)
    dtypes = tuple(row[2].split(",")) if row[2] else ()
    status = _status(answer, row, listed)
    return ApiSupport(
        name=listed,
        status=status,
        npu_name=row[1] if row[1] != listed else "",
        dtypes=dtypes,
        other_limit=row[4] == "1",
        versions={of: _spelled(cell) for of, cell in cells.items() if _spelled(cell)},
        kernel=kernel(listed),
        doubt=_doubt(listed, cells, version, soc) if status == "unsupported" else "",
        evidence=f"torch_npu {version} API support table",
    )


def _column(torch: str) -> str:
    """The version of the tables that speaks for a torch version: itself, else the newest before it, else the oldest."""
    known = _versions()
    wanted = _key(torch)
    return next((of for of in reversed(known) if _key(of) <= wanted), known[0])


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+", maxsplit=1)[0].split(".")[:2] if part.isdigit())


def _answer(cells: Mapping[str, str], *, version: str, soc: str) -> Literal["yes", "no", ""]:
    cell = _by_chip(cells, version)
    if cell in {"", "?"}:
        return ""
    if cell == "no":
        return "no"
    return "yes" if cell == "yes" or _CHIPS[soc] in cell else ""


def _by_chip(cells: Mapping[str, str], version: str) -> str:
    """The cell of a version; a "yes" for chips untold becomes the chips of the next version that tells them."""
    if cells[version] != "yes":
        return cells[version]
    later = [cell for of, cell in cells.items() if _key(of) > _key(version)]
    return next((cell for cell in later if cell not in {"", "?", "no", "yes"}), "yes")


def _status(answer: str, row: tuple[str, ...], listed: str) -> Status:
    if not answer:
        return "unlisted"
    if answer == "no":
        return "unsupported"
    if row[1] and row[1] != listed:
        return "renamed"
    if row[3] == "1":
        return "cpu_fallback"
    return "limited" if row[2] or row[4] == "1" else "supported"


def _spelled(cell: str) -> str:
    if cell in {"yes", "no"}:
        return cell
    return ", ".join(chip for chip, letter in _CHIPS.items() if letter in cell)


def _doubt(listed: str, cells: Mapping[str, str], version: str, soc: str) -> str:
    """What speaks against a "no"."""
    if listed.startswith(_ACCELERATOR):
        return ""
    if listed.startswith(_HOST):
        return "it runs on the host and works with the tensors it is given"
    others = [of for of in cells if of != version and _answer(cells, version=of, soc=soc) == "yes"]
    if others:
        return f"the API support table of torch {', '.join(others)} lists it as supported"
    if kernel(listed) == "registered":
        return "torch_npu registers a kernel of this name"
    twin = _twin(listed)
    if twin in _table() and _answer(dict(zip(_versions(), _table()[twin][len(FIXED) :], strict=True)),
                                    version=version, soc=soc) == "yes":  # fmt: skip
        return f"{twin} is listed as supported"
    if kernel(listed) == "missing" or _is_sparse_layout(listed):
        return ""
    return "it has no kernel of its own: it runs where the operators it is made of run"


def _twin(listed: str) -> str:
    """The method for a function and the function for a method."""
    if listed.startswith("torch.Tensor."):
        return f"torch.{listed.removeprefix('torch.Tensor.')}"
    return f"torch.Tensor.{listed.removeprefix('torch.')}" if listed.count(".") == 1 else ""


def _is_sparse_layout(listed: str) -> bool:
    """Constructors of compressed sparse tensors are composite, but the layout itself needs the device's support."""
    return listed.startswith("torch.sparse_") and listed.endswith("_tensor")


def closest(name: str, *, most: int = 3) -> list[str]:
    """Listed names that look most like a name that is not listed."""
    known = [*_table(), *_aliases()]
    last = name.rpartition(".")[2].lower()
    ending = [other for other in known if other.rpartition(".")[2].lower() == last]
    near = sorted(ending, key=lambda other: (-difflib.SequenceMatcher(None, name, other).ratio(), other))
    if len(near) < most:
        near += [other for other in difflib.get_close_matches(name, known, n=most, cutoff=0.75) if other not in near]
    return near[:most]
