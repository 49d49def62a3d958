"""Parse one Kineto file and do nothing with it; run inside an environment that has orjson and msgspec.

Usage: ``python raw_parse.py json|orjson|msgspec|msgspec.Raw FILE``. Prints JSON: ``cpu_s``, the CPU seconds of the
parse alone without start-up and reading, and ``events``, the length of ``traceEvents``. ``msgspec.Raw`` finds where
each event ends and leaves it undecoded.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def parser(library: str) -> Callable[[bytes], int]:
    """A function from the bytes of a file to its number of events."""
    if library == "json":
        return lambda data: len(json.loads(data)["traceEvents"])
    if library == "orjson":
        import orjson

        return lambda data: len(orjson.loads(data)["traceEvents"])
    import msgspec

    if library == "msgspec":
        return lambda data: len(msgspec.json.decode(data)["traceEvents"])
    trace = msgspec.defstruct("Trace", [("traceEvents", list[msgspec.Raw])])
    decoder = msgspec.json.Decoder(trace)
    return lambda data: len(decoder.decode(data).traceEvents)


parse = parser(sys.argv[1])
content = Path(sys.argv[2]).read_bytes()
before = time.process_time()
events = parse(content)
print(json.dumps({"cpu_s": time.process_time() - before, "events": events}))
