"""TW701: environment variables that CUDA, NCCL and PyTorch read, in scripts, containers, configuration and Python."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright.knowledge.environment import variables
from trainwright.migrate.document import Document
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.strings import StringRef
from trainwright.migrate.remark import Remark
from trainwright.migrate.rule import FileHook, Rule, StringHook
from trainwright.migrate.text.content import TEXT_LANGUAGES
from trainwright.migrate.text.environment import toolkit_remarks, variable_remarks
from trainwright.migrate.text.python_environment import command_remarks, is_first, variable_remark


def _document(document: Document) -> Iterator[Remark]:
    yield from variable_remarks(document)
    yield from toolkit_remarks(document)


def _string(ref: StringRef, file: PythonFile) -> Iterator[Remark]:
    if ref.value in variables():
        if is_first(ref, file):
            yield from variable_remark(ref, file)
    else:
        yield from command_remarks(ref, file)


RULE = Rule(
    code="environment-variables",
    number="TW701",
    summary="Environment variables of CUDA, NCCL and PyTorch, and the CUDA toolkit in scripts.",
    why="The NPU runtime reads variables of its own: what is set under the CUDA names has no effect.",
    before="export CUDA_VISIBLE_DEVICES=0,1",
    after="export ASCEND_RT_VISIBLE_DEVICES=0,1",
    safety="safe",
    hooks=(
        FileHook(languages=TEXT_LANGUAGES, visit=_document),
        StringHook(words=tuple(sorted(name.lower() for name in variables() if "*" not in name)), visit=_string),
    ),
)
