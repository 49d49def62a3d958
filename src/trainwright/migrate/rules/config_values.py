"""TW704: values of YAML, JSON, TOML and INI files that name a CUDA device, NCCL, or what only CUDA machines can do."""

from __future__ import annotations

from trainwright.migrate.rule import FileHook, Rule
from trainwright.migrate.text.settings import setting_remarks

RULE = Rule(
    code="config-values",
    number="TW704",
    summary="A configuration file names a CUDA device, the NCCL backend, or a setting that needs CUDA.",
    why="The program takes its device and backend from here; cuda and nccl do not exist on an Ascend machine.",
    before="device: cuda:0  # where the model lives",
    after="device: npu:0  # where the model lives",
    safety="safe",
    hooks=(FileHook(languages=("yaml-config", "json-config", "toml-config", "ini-config"), visit=setting_remarks),),
)
