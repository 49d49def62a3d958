"""The events of ``trace_view.json`` for an `AscendRun`, as the profiler writes them."""

from __future__ import annotations

from typing import Any

from tests.trace.ascend_run import EPOCH_NS, MAIN_THREAD, NO_MODEL, PID, QUEUE_THREAD, AscendRun, process_id, us

Event = dict[str, Any]


def timeline_events(run: AscendRun, *, level: int = 2) -> list[Event]:
    """The events of ``trace_view.json``."""
    return [*_host_events(run), *_labels(run, level), *_device_events(run, level)]


def _host_events(run: AscendRun) -> list[Event]:
    events = [_slice(f"ProfilerStep#{run.step}", PID, MAIN_THREAD, run.step_start_ns, run.step_dur_ns, "cpu_op")]
    for op in run.host_ops:
        args: Event = {"Sequence number": op.sequence, "Fwd thread id": 0} if op.category == "cpu_op" else {}
        named = {"Input Dims": op.shapes, "Input type": op.dtypes, "Call stack": op.stack}
        args.update({key: value for key, value in named.items() if value})
        events.append(_slice(op.name, PID, op.thread, op.start_ns, op.dur_ns, op.category, **args))
    for entry in run.queue:
        ends = (
            ("Enqueue", MAIN_THREAD, entry.enqueue_ns, entry.enqueue_dur_ns, "enqueue", "s"),
            (entry.name, QUEUE_THREAD, entry.dequeue_ns, entry.dequeue_dur_ns, "dequeue", "f"),
        )
        for name, thread, start, dur, category, phase in ends:
            events.append(_slice(name, PID, thread, start, dur, category, correlation_id=entry.correlation))
            events.append(_arrow(phase, "async_task_queue", entry.correlation, PID, thread, start))
    return events


def _labels(run: AscendRun, level: int) -> list[Event]:
    """Labels stand behind the events of the framework and before those of the device, as in real files."""
    processes = {PID: "Python", process_id(run, 13): "Ascend Hardware", process_id(run, 15): "HCCL"}
    if level:
        processes[process_id(run, 7)] = "CANN"
    threads = {(PID, MAIN_THREAD): "Thread 101", (PID, QUEUE_THREAD): "Thread 102"}
    threads |= {(process_id(run, 13), task.stream): f"Stream {task.stream}" for task in run.tasks}
    threads[(process_id(run, 15), 0)] = "Group 0 Communication"
    if level:
        threads |= {(process_id(run, 15), task.plane + 1): f"Plane {task.plane}" for task in run.comm_tasks}
    events: list[Event] = []
    for pid, name in processes.items():
        events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}})
        label = {"labels": "CPU" if name in ("Python", "CANN") else "NPU"}
        events.append({"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": label})
    for (pid, tid), name in threads.items():
        events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}})
    return events


def _device_events(run: AscendRun, level: int) -> list[Event]:
    cann, hardware, hccl = (process_id(run, order) for order in (7, 13, 15))
    events = []
    for call in run.calls:
        if level:
            args = {"Thread Id": call.thread, "level": call.level, "connection_id": call.connection}
            events.append(_slice(call.name, cann, call.thread, call.start_ns, call.dur_ns, **args))
        events.append(_arrow("s", "HostToDevice", _flow_id(call.connection), cann, call.thread, call.start_ns))
    for task in run.tasks:
        args = {
            "Model Id": NO_MODEL, "Task Type": task.task_type, "Physic Stream Id": task.stream, "Task Id": task.task,
            "Batch Id": 0, "Subtask Id": task.subtask, "connection_id": task.connection,
        }  # fmt: skip
        if task.bytes >= 0:
            args |= {"data size(Byte)": task.bytes, "memcpy direction": "host to device"}
        events.append(_slice(task.name, hardware, task.stream, task.start_ns, task.dur_ns, **args))
        events += _launch_arrows(run, task.launched_by, task.connection, hardware, task.stream, task.start_ns)
    for op in run.comm_ops:
        args = {
            "connection_id": op.connection, "model id": NO_MODEL, "data_type": op.dtype, "alg_type": op.algorithm,
            "count": op.count,
        }  # fmt: skip
        events.append(_slice(op.name, hccl, 0, op.start_ns, op.dur_ns, **args))
        events += _launch_arrows(run, op.launched_by, op.connection, hccl, 0, op.start_ns)
    for part in run.comm_tasks if level else ():
        args = {
            "notify_id": "0", "stream id": part.stream, "task id": part.task, "context id": 0, "task type": part.name,
            "src rank": part.src, "dst rank": part.dst, "transport type": part.transport, "size(Byte)": part.bytes,
            "data type": "FP32", "link type": part.link, "bandwidth(GB/s)": part.bandwidth, "model id": NO_MODEL,
        }  # fmt: skip
        events.append(_slice(part.name, hccl, part.plane + 1, part.start_ns, part.dur_ns, **args))
    overlap = process_id(run, 23)
    events.append({"ph": "M", "name": "process_name", "pid": overlap, "tid": 0, "args": {"name": "Overlap Analysis"}})
    events.append(_slice("Computing", overlap, 0, 10_000, 20_000))
    for counter in run.counters:
        event = {"ph": "C", "name": counter.name, "pid": process_id(run, 12), "tid": 0, "ts": us(counter.ts_ns)}
        events.append({**event, "args": {counter.series: counter.value}})
    return events


def _launch_arrows(run: AscendRun, op: str, connection: int, pid: int, tid: int, start_ns: int) -> list[Event]:
    """The arrows that end at a task which the profiler could follow back to an operator."""
    starts = [host.start_ns for host in run.host_ops if host.name == op]
    if not starts:
        return []
    number = EPOCH_NS + start_ns  # above 2**53, as in real files
    return [
        _arrow("s", "async_npu", number, PID, MAIN_THREAD, starts[0]),
        _arrow("f", "async_npu", number, pid, tid, start_ns),
        _arrow("f", "HostToDevice", _flow_id(connection), pid, tid, start_ns),
    ]


def _flow_id(connection: int) -> str:
    """Id of the arrow of a connection; too large for 64 bits, as some real ones are."""
    return str((connection << 56) + 2**64)


def _slice(name: str, pid: int, tid: int, start: int, dur: int, category: str = "", **args: Any) -> Event:
    event = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": us(start), "dur": dur / 1000, "args": args}
    return {**event, "cat": category} if category else event


def _arrow(phase: str, category: str, number: int | str, pid: int, tid: int, ts: int) -> Event:
    return {
        "ph": phase,
        "bp": "e",
        "name": category,
        "cat": category,
        "id": number,
        "pid": pid,
        "tid": tid,
        "ts": us(ts),
    }
