"""The peer: LibCST parses files and resolves the qualified name of every node, and does nothing else.

Usage: ``python benchmarks/migrate_libcst.py ROOT``, with a Python that has LibCST. The last line printed is JSON. That
is the least that a code-mod built on LibCST does before its first rule. Files that it cannot parse are counted.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import libcst
from libcst.metadata import MetadataWrapper, QualifiedNameProvider


def main() -> int:
    lines = files = unread = 0
    for path in sorted(Path(sys.argv[1]).rglob("*.py")):
        data = path.read_bytes()
        files += 1
        lines += len(data.splitlines())
        try:
            MetadataWrapper(libcst.parse_module(data), unsafe_skip_copy=True).resolve(QualifiedNameProvider)
        except (libcst.ParserSyntaxError, UnicodeDecodeError, RecursionError):
            unread += 1
    own = resource.getrusage(resource.RUSAGE_SELF)
    answer = {"files": files, "lines": lines, "unread": unread, "peak_mib": own.ru_maxrss / 1024}
    print(json.dumps(answer | {"cpu_s": own.ru_utime + own.ru_stime}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
