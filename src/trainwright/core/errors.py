"""The one error tree. A message says what failed, the value, what is allowed, and what to do.

::

    TrainwrightError             exit code 3
    ├── InputError               exit code 2: what the user gave cannot be used
    │   ├── RefusedError         input that is too dangerous or too large to open
    │   └── NotAProfileError     no reader recognises the input
    ├── StoreError               exit code 2: our own store cannot be written or read where it is
    ├── OutputError              exit code 2: a result cannot be written where the user asked
    └── WorkerError              exit code 3: a unit of work died without an answer

A bug of our own is an ``AssertionError``, never one of these.
"""

from __future__ import annotations


class TrainwrightError(Exception):
    """Root of every error Trainwright raises on purpose.

    Args:
        what: what failed, with the value that made it fail.
        allowed: what would have been accepted; empty when the message needs none.
        todo: the next thing the user can do; empty when there is nothing.
    """

    exit_code = 3

    def __init__(self, what: str, *, allowed: str = "", todo: str = "") -> None:
        self.what = what
        self.allowed = allowed
        self.todo = todo
        super().__init__(what, allowed, todo)

    def __str__(self) -> str:
        parts = [self.what]
        if self.allowed:
            parts.append(f"Allowed: {self.allowed}.")
        if self.todo:
            parts.append(f"What to do: {self.todo}.")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.allowed, self.todo))


def _rebuild(kind: type[TrainwrightError], what: str, allowed: str, todo: str) -> TrainwrightError:
    """Remake an error that crossed a process boundary (keyword arguments do not pickle by default)."""
    return kind(what, allowed=allowed, todo=todo)


class InputError(TrainwrightError):
    """The user's input cannot be used as it is."""

    exit_code = 2


class RefusedError(InputError):
    """Input refused before it is opened in full: a decompression bomb, absurd depth or size."""


class NotAProfileError(InputError):
    """No reader recognises the file or folder."""


class OutputError(TrainwrightError):
    """A result cannot be written where the user asked."""

    exit_code = 2


class StoreError(TrainwrightError):
    """The store of the profiles read so far cannot be written or read."""

    exit_code = 2


class WorkerError(TrainwrightError):
    """A unit of work ended without an answer, for example killed for memory."""
