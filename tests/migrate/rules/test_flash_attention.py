"""Calls of flash-attn and their mapping to npu_fusion_attention."""

from __future__ import annotations

import ast

import pytest

from tests.migrate.python.check import migrated, remarks_of
from trainwright.knowledge.surface import npu_name_exists
from trainwright.migrate.rules.flash_attention import PACKAGES, RULE

HEAD = "import torch\nfrom flash_attn import {0}\n"
MASK = "torch.ones(2048, 2048, dtype=torch.bool, device={0}.device).triu(1)"


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ndef flash_attn_func(q, k, v): ...\nflash_attn_func(q, k, v)\n",
        "import torch\nfrom flash_attn import flash_attn_func\nif flash_attn_func is not None: pass\n",
        "import torch\nfrom mine.flash_attn import flash_attn_func\nflash_attn_func(q, k, v)\n",
    ],
)
def test_nothing_is_said(code: str) -> None:
    assert remarks_of(code, RULE) == []


WHOLE = [
    (
        "flash_attn_func(q, k, v)",
        'torch_npu.npu_fusion_attention(q, k, v, q.shape[2], "BSND", scale=q.shape[-1] ** -0.5)[0]',
    ),
    (
        "flash_attn_func(self.q, k, v, dropout_p=0.0, softmax_scale=None, causal=True, window_size=(-1, -1))",
        'torch_npu.npu_fusion_attention(self.q, k, v, self.q.shape[2], "BSND", scale=self.q.shape[-1] ** -0.5, '
        f"atten_mask={MASK.format('self.q')}, sparse_mode=3)[0]",
    ),
    (
        "flash_attn_func(q, k, v, self.p if self.training else 0.0, 1.0 / 8, self.causal, deterministic=True)",
        'torch_npu.npu_fusion_attention(q, k, v, q.shape[2], "BSND", scale=(1.0 / 8), '
        "keep_prob=1.0 - (self.p if self.training else 0.0), "
        f"atten_mask={MASK.format('q')} if self.causal else None, sparse_mode=3 if self.causal else 0)[0]",
    ),
    (
        "flash_attn_func(q, k, v, softmax_scale=scale)",
        'torch_npu.npu_fusion_attention(q, k, v, q.shape[2], "BSND", '
        "scale=q.shape[-1] ** -0.5 if scale is None else scale)[0]",
    ),
    (
        "flash_attn_qkvpacked_func(qkv, causal=False)",
        'torch_npu.npu_fusion_attention(*qkv.unbind(2), qkv.shape[3], "BSND", scale=qkv.shape[-1] ** -0.5)[0]',
    ),
    (
        "flash_attn_kvpacked_func(q, kv)",
        'torch_npu.npu_fusion_attention(q, *kv.unbind(2), q.shape[2], "BSND", scale=q.shape[-1] ** -0.5)[0]',
    ),
    (
        "flash_attn_varlen_func(q, k, v, cu_q, cu_k, max_q, max_k, causal=True)",
        'torch_npu.npu_fusion_attention(q, k, v, q.shape[1], "TND", scale=q.shape[-1] ** -0.5, '
        f"atten_mask={MASK.format('q')}, sparse_mode=3, "
        "actual_seq_qlen=cu_q[1:].tolist(), actual_seq_kvlen=cu_k[1:].tolist())[0]",
    ),
    (
        "flash_attn_varlen_qkvpacked_func(qkv, cu, most)",
        'torch_npu.npu_fusion_attention(*qkv.unbind(1), qkv.shape[2], "TND", scale=qkv.shape[-1] ** -0.5, '
        "actual_seq_qlen=cu[1:].tolist(), actual_seq_kvlen=cu[1:].tolist())[0]",
    ),
    (
        "flash_attn_unpadded_func(q, k, v, cu_q, cu_k, 8, 8, 0.1)",
        'torch_npu.npu_fusion_attention(q, k, v, q.shape[1], "TND", scale=q.shape[-1] ** -0.5, keep_prob=1.0 - 0.1, '
        "actual_seq_qlen=cu_q[1:].tolist(), actual_seq_kvlen=cu_k[1:].tolist())[0]",
    ),
]


@pytest.mark.parametrize(("before", "after"), WHOLE)
def test_plain_calls_have_an_unsafe_edit(before: str, after: str) -> None:
    head = HEAD.format(before.partition("(")[0])
    code = f"{head}out = {before}\n"
    assert migrated(code, RULE) == code
    new = migrated(code, RULE, unsafe=True)
    assert new == f"{head}out = {after}\n"
    ast.parse(new)
    assert migrated(new, RULE, unsafe=True) == new


MANUAL = [
    ("flash_attn_func(q, k, v, window_size=(128, 0))", "sparse_mode=4 with pre_tockens=left"),
    ("flash_attn_func(q, k, v, softcap=30.0)", "softcap has no counterpart"),
    ("flash_attn_func(q, k, v, alibi_slopes=slopes)", "becomes pse"),
    ("flash_attn_func(q, k, v, return_attn_probs=True)", "log-sum-exp is max + log(sum)"),
    ("flash_attn_func(project(x), k, v)", "write torch_npu.npu_fusion_attention(q, k, v"),
    ("flash_attn_func(*qkv)", "write torch_npu.npu_fusion_attention(q, k, v"),
    ("flash_attn_func(q, k, v, **more)", "write torch_npu.npu_fusion_attention(q, k, v"),
    ("flash_attn_func(q, k, v, other=1)", "write torch_npu.npu_fusion_attention(q, k, v"),
    ("flash_attn_func(q, k, v,  # scores\n    causal=True)", "write torch_npu.npu_fusion_attention(q, k, v"),
    ("flash_attn_with_kvcache(q, kc, vc, k, v)", "npu_fused_infer_attention_score"),
    ("flash_attn_varlen_func(q, k, v, a, b, 1, 1, block_table=t)", "gather the pages first"),
    ("flash_attn_varlen_qkvpacked_func(f(x), cu, m)", ".unbind(1)"),
    ("flash_attn_func(q, k, v, softmax_scale=s if s else None)", "write torch_npu.npu_fusion_attention(q, k, v"),
]


@pytest.mark.parametrize(("call", "advice"), MANUAL)
def test_what_a_person_has_to_write(call: str, advice: str) -> None:
    (found,) = remarks_of(f"{HEAD.format(call.partition('(')[0])}out = {call}\n", RULE)
    assert (found.outcome, found.edits) == ("manual", ())
    assert advice in found.advice
    assert found.minutes > 0


OTHERS = [
    ("flash_attn.bert_padding", "unpad_input", "bert_padding.py"),
    ("flash_attn.layers.rotary", "apply_rotary_emb", "npu_rotary_mul"),
    ("flash_attn.losses.cross_entropy", "CrossEntropyLoss", "torch.nn.CrossEntropyLoss"),
    ("flash_attn.ops.rms_norm", "RMSNorm", "npu_rms_norm"),
    ("flash_attn.modules.mha", "MHA", "operators of torch"),
]


@pytest.mark.parametrize(("module", "name", "advice"), OTHERS)
def test_other_parts_of_the_library(module: str, name: str, advice: str) -> None:
    (found,) = remarks_of(f"from {module} import {name}\ny = {name}(x)\n", RULE)
    assert (found.outcome, found.name) == ("manual", f"{module}.{name}")
    assert advice in found.advice


def test_the_third_version_has_other_arguments() -> None:
    code = "import torch\nfrom flash_attn_interface import flash_attn_func\nflash_attn_func(q, k, v)\n"
    assert [found.outcome for found in remarks_of(code, RULE)] == ["manual"]


def test_no_edit_without_torch_or_in_another_style() -> None:
    call = "from flash_attn import flash_attn_func\nflash_attn_func(q, k, v, causal=True)\n"
    assert [found.edits for found in remarks_of(call, RULE)] == [()]
    assert [found.edits for found in remarks_of(f"import torch\n{call}", RULE, style="agnostic")] == [()]


GUARDED = "try:\n    from flash_attn import flash_attn_func\nexcept ImportError:\n    flash_attn_func = None\n"


CONDITIONS = [
    ("if flash_attn_func is not None: {}", "note"),
    ("y = {} if use_flash else plain(q, k, v)", "note"),
    ("if flash_attn_func is None: pass\nelse: {}", "note"),
    ("if not flash_available: {}", "manual"),
    ("if use_flash_3: pass\nelse: {}", "manual"),
    ("if causal: {}", "manual"),
    ("{}", "manual"),
]


@pytest.mark.parametrize(("code", "outcome"), CONDITIONS)
def test_a_guarded_use_under_a_condition_is_a_note(code: str, outcome: str) -> None:
    code = GUARDED + code.format("flash_attn_func(q, k, v)") + "\n"
    assert [found.outcome for found in remarks_of(code, RULE)] == [outcome]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_of_the_library(package: str) -> None:
    code = f"from {package}.flash_attn_interface import _flash_attn_forward\n_flash_attn_forward(q, k, v)\n"
    assert [found.outcome for found in remarks_of(code, RULE)] == ["manual"]


@pytest.mark.parametrize(
    "name", ["npu_fusion_attention", "npu_fusion_attention_grad", "npu_rotary_mul", "npu_rms_norm"]
)
def test_what_is_named_exists(name: str) -> None:
    assert npu_name_exists(f"torch_npu.{name}")
    assert npu_name_exists("torch_npu.npu_fused_infer_attention_score")


def test_arguments_that_are_handed_on_are_not_made_up() -> None:
    code = "from flash_attn import flash_attn_func as f\ndef g(*args, **kwargs):\n    return f(*args, **kwargs)\n"
    (found,) = [remark for remark in remarks_of(code, RULE) if remark.number == RULE.number]
    assert not found.edits
    assert "where this is called from" in found.advice
