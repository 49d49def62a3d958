"""Recognise communication operators of GPU and CPU libraries by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Bytes per element by the names that PyTorch, NCCL and HCCL use.
ELEMENT_BYTES = {
    "float": 4, "float32": 4, "fp32": 4, "f32": 4, "double": 8, "float64": 8, "fp64": 8, "half": 2, "float16": 2,
    "fp16": 2, "f16": 2, "bfloat16": 2, "bfp16": 2, "bf16": 2, "int": 4, "int32": 4, "long": 8, "int64": 8, "short": 2,
    "int16": 2, "char": 1, "int8": 1, "byte": 1, "uint8": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "c10::half": 2, "c10::bfloat16": 2, "uint16": 2, "uint32": 4, "uint64": 8, "int128": 16,
}  # fmt: skip

#: A message of more bytes than this (1 PiB) is no measurement.
MOST_MESSAGE_BYTES = 1 << 50

_KERNEL = re.compile(
    r"^(?:void )?(?:nccl|rccl|msccl|hccl|mccl|oneccl)(?:Dev)?Kernel|^ncclSymk|^(?:nccl|rccl)Generic", re.IGNORECASE
)
_ALGORITHM = re.compile(r"_(RING|TREE|NVLS|COLLNET\w*?|PAT)_(LL128|LL|SIMPLE)", re.IGNORECASE)
#: Canonical operator by its spelling without case and punctuation; longest spelling first.
_OPERATORS = {
    "reducescattertensor": "reducescatter", "reducescatter": "reducescatter", "allreducecoalesced": "allreduce",
    "allreduce": "allreduce", "allgatherintotensor": "allgather", "allgather": "allgather", "alltoallv": "alltoall",
    "alltoall": "alltoall", "broadcast": "broadcast", "batchsendrecv": "sendrecv", "sendrecv": "sendrecv",
    "coalesced": "sendrecv", "reduce": "reduce", "gather": "gather", "scatter": "scatter", "barrier": "barrier",
    "receive": "recv", "recv": "recv", "send": "send",
}  # fmt: skip

#: Operators between two ranks; time in them while nothing computes is pipeline bubble.
P2P_OPS = ("send", "recv", "sendrecv")


@dataclass(frozen=True, kw_only=True)
class CollectiveName:
    """What a name says: canonical operator (empty when unknown) and algorithm (empty when not named)."""

    op: str
    algorithm: str = ""


def is_collective_kernel(name: str) -> bool:
    """Whether a device kernel belongs to a collective library (NCCL, RCCL, MSCCL, ...)."""
    return _KERNEL.search(name) is not None


def is_host_collective(name: str) -> bool:
    """Whether a host range is a collective running on the CPU (``gloo:all_reduce``, ``mpi:...``)."""
    return name.startswith(("gloo:", "mpi:"))


def parse_collective(name: str) -> CollectiveName:
    """Operator and algorithm out of a kernel, range or argument name, such as ``"_allgather_base"``."""
    found = _ALGORITHM.search(name)
    algorithm = "_".join(found.groups()).upper() if found else ""
    plain = re.sub(r"[^a-z]", "", name.split("(", maxsplit=1)[0].lower())
    for spelling, op in _OPERATORS.items():
        if spelling in plain:
            return CollectiveName(op=op, algorithm=algorithm)
    return CollectiveName(op="", algorithm=algorithm)


def element_bytes(dtype: str | None) -> int:
    """Bytes of one element; 0 for an unknown type."""
    return ELEMENT_BYTES.get((dtype or "").strip().lower(), 0)
