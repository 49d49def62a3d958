"""Remarks on values of configuration files: devices, backends, and what only CUDA machines can do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainwright.knowledge.apis import npu_name_exists
from trainwright.migrate.document import Document
from trainwright.migrate.remark import Edit, Remark, Safety
from trainwright.migrate.text.content import Setting, TextContent
from trainwright.migrate.text.roles import npu_value, role_of

NUMBER = "TW704"
#: Files that run jobs elsewhere: their values choose machines and matrices, not the device of the program alone.
_CI = re.compile(r"(?:^|/)\.(?:github|gitlab|buildkite|circleci|azure-pipelines|travis)|(?:^|/)ci/")
#: Keys below the name of a setting that hold its value.
_CARRIERS = frozenset({"value", "values", "default", "choices"})
_SDPA = "Set sdpa, or eager."
_FLASH_EVIDENCE = "transformers #36618, #36617"


@dataclass(frozen=True, kw_only=True)
class _Advice:
    """A setting that somebody has to decide about: keys, values, and what to say."""

    keys: frozenset[str]
    values: re.Pattern[str]
    advice: str
    evidence: str
    minutes: int = 10


def _keys(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KNOWN = (
    _Advice(
        keys=_keys("attn_implementation _attn_implementation attn_impl flash_attn attention_implementation"),
        values=re.compile(r"flash_attention_[23]|flash_attn(?:_[23])?|fa[23]"),
        advice=f"flash-attn cannot be installed on an Ascend machine. {_SDPA}",
        evidence=_FLASH_EVIDENCE,
    ),
    _Advice(
        keys=_keys("use_flash_attn use_flash_attention use_flash_attention_2 flash_attention"),
        values=re.compile(r"(?i)true|yes|on"),
        advice="flash-attn cannot be installed on an Ascend machine. Switch it off and use the attention of PyTorch.",
        evidence=_FLASH_EVIDENCE,
    ),
    _Advice(
        keys=_keys("attn_implementation _attn_implementation attn_impl"),
        values=re.compile(r"flex_attention|xformers"),
        advice=f"This attention does not run on the NPU. {_SDPA}",
        evidence="deepseek-ai/DeepSpec #6; Ascend/pytorch #80",
    ),
    _Advice(
        keys=_keys("optim optimizer optimizer_name optimizer_type optim_name"),
        values=re.compile(r"(?i)paged_\w+|\w+_bnb_8bit|\w+_8bit|adamw?8bit|adamw?_8bit|lion8bit"),
        advice="8-bit and paged optimizers of bitsandbytes do not run on the NPU. Set adamw_torch, or use "
        "torch_npu.optim.NpuFusedAdamW in a training loop of your own.",
        evidence="bitsandbytes PR #1422, #1442",
    ),
    _Advice(
        keys=_keys("load_in_8bit llm_int8_enable_fp32_cpu_offload"),
        values=re.compile(r"(?i)true|yes|on"),
        advice="8-bit quantisation of bitsandbytes does not run on the NPU. Load the model in bfloat16.",
        evidence="bitsandbytes PR #1422, #1442",
        minutes=30,
    ),
    _Advice(
        keys=_keys("load_in_4bit"),
        values=re.compile(r"(?i)true|yes|on"),
        advice="Of the 4-bit quantisation of bitsandbytes only NF4 works on the NPU, from its multi-backend branch.",
        evidence="bitsandbytes PR #1422, #1442",
        minutes=30,
    ),
    _Advice(
        keys=_keys("tf32 allow_tf32 enable_tf32"),
        values=re.compile(r"(?i)true|yes|on"),
        advice="The NPU has no TF32. Switch it off; torch.npu.matmul.allow_hf32 is the nearest setting.",
        evidence="Ascend Extension for PyTorch documentation",
        minutes=2,
    ),
    _Advice(
        keys=_keys("accelerator trainer_accelerator"),
        values=re.compile(r"gpu|cuda"),
        advice="Lightning has no accelerator for the NPU in its tree: register an Accelerator of your own, or use "
        "accelerate.",
        evidence="pytorch-lightning #19498, PR #19308",
        minutes=120,
    ),
)


def setting_remarks(document: Document) -> Iterator[Remark]:
    """The settings of a document that a CUDA device or library stands behind."""
    content: TextContent = document.content
    for setting in content.settings:
        known = _known(setting)
        if known is not None:
            yield _manual(setting, known)
        elif found := _device(setting, document) or (document.options.style == "npu" and _other(setting)):
            yield found


def _known(setting: Setting) -> _Advice | None:
    key = setting.key.lower()
    return next((entry for entry in _KNOWN if key in entry.keys and entry.values.fullmatch(setting.value)), None)


def _manual(setting: Setting, entry: _Advice) -> Remark:
    return Remark(
        number=NUMBER,
        start=setting.start,
        end=setting.end,
        title=f"{setting.key}: {setting.value}",
        advice=entry.advice,
        outcome="manual",
        minutes=entry.minutes,
        evidence=entry.evidence,
        name=setting.key,
    )


def _device(setting: Setting, document: Document) -> Remark | None:
    spelled = npu_value(setting.value)
    role = role_of(_name(setting), document.project) if spelled else None
    if spelled is None or role is None or role.kind != spelled[0]:
        return None
    title = f"{setting.key}: {setting.value}"
    style = document.options.style
    if style != "npu":
        return Remark(
            number=NUMBER,
            start=setting.start,
            end=setting.end,
            title=title,
            advice="" if style == "shim" else f"Set {spelled[1]} on an Ascend machine, or let the program choose.",
            outcome="note" if style == "shim" else "manual",
            minutes=0 if style == "shim" else 2,
            confidence="inferred",
            name=setting.key,
        )
    doubt = _doubt(setting, document)
    return Remark(
        number=NUMBER,
        start=setting.start,
        end=setting.end,
        title=title,
        detail=doubt,
        safety="unsafe" if doubt else "safe",
        confidence="inferred",
        edits=(Edit(start=setting.start, end=setting.end, new=spelled[1]),),
        name=setting.key,
    )


def _name(setting: Setting) -> str:
    """The key that says what a value is: ``device`` in ``device: {default: cuda}``, too."""
    keys = [part for part in setting.path if part != "[]"]
    return keys[-2] if len(keys) > 1 and keys[-1] in _CARRIERS else setting.key


def _other(setting: Setting) -> Remark | None:
    """Names of the NPU that frameworks read: accelerate's kind of run, classes to make by their dotted name."""
    if setting.key == "distributed_type" and setting.value == "MULTI_GPU":
        return _renamed(setting, "MULTI_NPU", "safe", "accelerate PR #1676; DistributedType.MULTI_NPU")
    if setting.key in ("_target_", "class_path") and setting.value.startswith("torch.cuda."):
        new = setting.value.replace("torch.cuda.", "torch.npu.", 1)
        if npu_name_exists(new):
            return _renamed(setting, new, "unsafe", "public names of torch_npu.npu")
    return None


def _renamed(setting: Setting, new: str, safety: Safety, evidence: str) -> Remark:
    return Remark(
        number=NUMBER,
        start=setting.start,
        end=setting.end,
        title=f"{setting.key}: {setting.value}",
        safety=safety,
        edits=(Edit(start=setting.start, end=setting.end, new=new),),
        evidence=evidence,
        name=setting.key,
    )


def _doubt(setting: Setting, document: Document) -> str:
    """Why the value may not be what the program is configured with; empty when there is no doubt."""
    if _CI.search(document.source.path):
        return "The file runs jobs of a build service; the machines must have NPUs."
    if document.language == "json-config" and "[]" in setting.path[:-1]:
        return "The value stands in a list of records, which may be data."
    return ""
