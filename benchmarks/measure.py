"""Measure what a command uses: CPU seconds, wall time and peak memory, its descendants included. Linux only."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLE_S = 0.2
PR_SET_CHILD_SUBREAPER = 36  # from <linux/prctl.h>


class CannotRunError(Exception):
    """A part of the benchmark cannot run; the text says which and why."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one command used, its descendants included.

    ``peak_mb`` (1e6 bytes) is the largest single process, or the largest sum over all processes alive at one sample,
    whichever is more. ``processes`` is the most that were alive at one sample.
    """

    cpu_s: float
    wall_s: float
    peak_mb: float
    processes: int
    output: str

    def answer(self) -> dict[str, Any]:
        """The JSON the command printed: all of its standard output, or the last line of it."""
        text = self.output.strip()
        loaded: dict[str, Any] = json.loads(text if text.startswith("{") else text.splitlines()[-1])
        return loaded


def descendants(pid: int) -> Iterator[int]:
    """The process and everything below it that is alive."""
    yield pid
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in listing.read_text().split():
            yield from descendants(int(child))


class TreeSampler(threading.Thread):
    """Samples the summed resident memory of a process tree; pages that processes share count once for each."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.over = threading.Event()
        self.peak_bytes = 0
        self.processes = 1

    def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self.over.wait(SAMPLE_S):
            try:
                sizes = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in descendants(self.pid)]
            except OSError:
                continue  # a process ended between the listing and the reading
            self.peak_bytes = max(self.peak_bytes, page * sum(sizes))
            self.processes = max(self.processes, len(sizes))


def children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Usage:
    """Run a command to its end. Raises `CannotRunError` with the last lines it printed if it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        before_s, started = children_cpu_s(), time.perf_counter()
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=errors, env=env)
        sampler = TreeSampler(process.pid)
        sampler.start()
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        sampler.over.set()
        sampler.join()
        peak_kib = max(used.ru_maxrss, reap_orphans())
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            tail = " | ".join((output.read() + errors.read()).strip().splitlines()[-3:])
            raise CannotRunError(f"{Path(command[0]).name} ended with {process.returncode}: {tail}")
        return Usage(
            cpu_s=children_cpu_s() - before_s,
            wall_s=wall_s,
            peak_mb=max(peak_kib * 1024, sampler.peak_bytes) / 1e6,
            processes=sampler.processes,
            output=output.read(),
        )


def reap_orphans() -> int:
    """Wait for what a command left behind, so that its CPU time is counted; returns the largest peak in KiB.

    Orphans come to this process because it is their subreaper; without that their use would be lost.
    """
    peak_kib = 0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return peak_kib
        peak_kib = max(peak_kib, used.ru_maxrss)


def become_subreaper() -> None:
    """Take over the orphans of the commands that are measured: see `reap_orphans`."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise CannotRunError(f"prctl failed: {os.strerror(ctypes.get_errno())}")
