"""TW703: container images made for CUDA, and options that give a container NVIDIA GPUs."""

from __future__ import annotations

from trainwright.migrate.rule import FileHook, Rule
from trainwright.migrate.text.containers import container_remarks
from trainwright.migrate.text.content import TEXT_LANGUAGES

RULE = Rule(
    code="container-images",
    number="TW703",
    summary="Container images made for CUDA, and containers that ask for NVIDIA GPUs.",
    why="A CUDA image has no CANN and no torch_npu, and the NVIDIA runtime does not know the NPU.",
    before="FROM nvidia/cuda:12.4.1-devel-ubuntu22.04",
    hooks=(FileHook(languages=TEXT_LANGUAGES, visit=container_remarks),),
)
