"""TW705: arguments of launch scripts that name a CUDA device or the NCCL backend."""

from __future__ import annotations

from trainwright.migrate.rule import FileHook, Rule
from trainwright.migrate.text.content import TEXT_LANGUAGES
from trainwright.migrate.text.launch import argument_remarks

RULE = Rule(
    code="launch-arguments",
    number="TW705",
    summary="A launch script passes a CUDA device or the NCCL backend to a program.",
    why="The program knows npu and hccl after its migration; a script that still passes cuda or nccl makes it fail.",
    before="torchrun train.py --device cuda --dist-backend nccl",
    after="torchrun train.py --device npu --dist-backend hccl",
    safety="safe",
    hooks=(FileHook(languages=TEXT_LANGUAGES, visit=argument_remarks),),
)
