"""Small runs for tests, poured through the real `RankWriter`, so that layout, parents and self time are the store's.

    run = make_run(
        [
            RankBuilder(0).step(1, 0, 100).host("aten::mm", 0, 10, external_id=1).device("gemm", 5, 9, external_id=1),
            RankBuilder(1).comm("all_reduce", 20, 30, op="allreduce", group="dp", seq=0),
        ],
        tmp_path,
    )

Times are given as start and end, in ns. Every method returns the builder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainwright.core.result import Quality
from trainwright.trace.discover import RankUnit
from trainwright.trace.reader import RankSource
from trainwright.trace.store import RankStore, Run
from trainwright.trace.writer import RankWriter


class RankBuilder:
    """What one rank will hold; nothing is written before `build`.

    `claims` is the rank that the source says it is, `place` the folder its source lies in.
    """

    def __init__(
        self,
        rank: int = 0,
        *,
        device: str | None = None,
        host: str | None = None,
        claims: int | None = None,
        place: str = "",
    ) -> None:
        self.rank = rank
        self._claims = claims
        self._place = place
        self._device = device
        self._host = host
        self._rows: list[tuple[str, dict[str, Any]]] = []
        self._tracks: list[dict[str, Any]] = []
        self._event = 0
        self._lost = 0
        self._repaired = 0

    def host(
        self, name: str, start: int, end: int, *, kind: str = "op", thread: str = "main", link: int = -1, **ops: Any
    ) -> RankBuilder:
        """A slice on a host thread; `ops` are columns of the table `ops` (external_id, shapes, stack, module, ...)."""
        event = self._slice(name, start, end, kind, link, track=_thread(thread))
        return self.row("ops", event=event, **ops) if ops else self

    def step(self, number: int, start: int, end: int, *, thread: str = "main") -> RankBuilder:
        """The profiler's mark of a training step."""
        return self.host(f"ProfilerStep#{number}", start, end, kind="step", thread=thread)

    def device(
        self,
        name: str,
        start: int,
        end: int,
        *,
        kind: str = "kernel",
        stream: int = 7,
        device: int = 0,
        link: int = -1,
        **kernels: Any,
    ) -> RankBuilder:
        """A slice on a device stream with its row of `kernels` (op_type, core_type, shapes, external_id, ...)."""
        event = self._slice(name, start, end, kind, link, track=_stream(stream, device))
        return self.row("kernels", event=event, stream=stream, device=device, **kernels)

    def comm(
        self,
        name: str,
        start: int,
        end: int,
        *,
        op: str | None = "allreduce",
        thread: str | None = None,
        stream: int = 20,
        link: int = -1,
        external_id: int = -1,
        **collectives: Any,
    ) -> RankBuilder:
        """A communication operator on a device stream, or on a host thread when `thread` is given (gloo).

        `collectives` are columns of the table `collectives` (group, seq, bytes, group_size, peer, algorithm, dtype).
        """
        event = self._slice(name, start, end, "comm", link, track=_thread(thread) if thread else _stream(stream, 0))
        if not thread:
            self.row("kernels", event=event, stream=stream, device=0, external_id=external_id)
        return self.row("collectives", event=event, op=op, **collectives)

    def comm_task(self, name: str, start: int, end: int, *, plane: str = "Plane 0", **links: Any) -> RankBuilder:
        """A task inside a communication operator; `links` are columns of that table (src, dst, transport, bytes)."""
        track = {"process": "links", "thread": plane, "side": "device"}
        event = self._slice(name, start, end, "comm_task", -1, track=track)
        return self.row("links", event=event, plane=plane, **links)

    def memory(self, ts: int, size: int, *, address: int = 1, device: str = "cpu", **columns: Any) -> RankBuilder:
        """An allocation of `size` bytes, a release when negative; `columns` of `memory_events`."""
        return self.row(
            "memory_events", event=self._next(), ts_ns=ts, bytes=size, address=address, device=device, **columns
        )

    def row(self, table: str, **columns: Any) -> RankBuilder:
        """A row of any other table (memory_usage, groups, steps, counters, ...)."""
        self._rows.append((table, columns))
        return self

    def damage(self, *, lost: int = 0, repaired: int = 0) -> RankBuilder:
        """Events the reader could not read, or only after repair."""
        self._lost, self._repaired = lost, repaired
        return self

    def build(self, folder: Path) -> RankStore:
        """Write the rank into a new folder below `folder` and open it."""
        target = next(at for n in range(1000) if not (at := folder / f"rank{self.rank}-{n}").exists())
        source = folder / self._place / f"source{self.rank}.json"
        writer = RankWriter(target, _silent)
        tracks = [writer.track(pid="1", tid=str(at), **track) for at, track in enumerate(self._tracks)]
        writer.events(self._event)
        for table, columns in self._rows:
            place = {"track": tracks[columns["track"]]} if "track" in columns else {}
            writer.add(table, **{**columns, **place})
            writer.used(table, source)
        writer.describe(device=self._device, host=self._host)
        writer.lost(self._lost)
        writer.repaired(self._repaired)
        unit = RankUnit(
            rank=self.rank, parts=(RankSource(reader="made", path=source, files=(source,), rank=self._claims),)
        )
        return RankStore(folder=writer.finish(), unit=unit)

    def _slice(self, name: str, start: int, end: int, kind: str, link: int, *, track: dict[str, Any]) -> int:
        if track not in self._tracks:
            self._tracks.append(track)
        event = self._next()
        at = self._tracks.index(track)
        self.row("slices", event=event, track=at, start_ns=start, dur_ns=end - start, name=name, kind=kind, link=link)
        return event

    def _next(self) -> int:
        self._event += 1
        return self._event - 1


def make_run(ranks: Sequence[RankBuilder], folder: Path, *, quality: Sequence[Quality] = ()) -> Run:
    """A run of the given ranks, written below `folder`."""
    return Run(ranks=[rank.build(folder) for rank in ranks], quality=list(quality))


def _thread(thread: str) -> dict[str, Any]:
    return {"process": "python", "thread": thread, "side": "host"}


def _stream(stream: int, device: int) -> dict[str, Any]:
    return {
        "process": f"device {device}",
        "thread": f"stream {stream}",
        "side": "device",
        "stream": stream,
        "device": device,
    }


def _silent(done: int, total: int) -> None:
    """Progress of a few rows is not worth showing."""
