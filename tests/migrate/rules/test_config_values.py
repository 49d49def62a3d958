"""config-values: YAML, JSON, TOML and INI."""

from __future__ import annotations

import pytest

from tests.migrate.text.check import migrated, outcomes, scanned
from trainwright.migrate.rules.config_values import RULE

NUMBER = RULE.number
UNTOUCHED = [
    ("a.yaml", "name: cuda\nnote: runs on cuda\npath: /data/cuda\n# device: cuda\n"),
    ("a.yaml", "device: cpu\nbackend: gloo\n"),
    ("a.yaml", "device: nccl\nbackend: cuda\n"),
    ("a.yaml", "device: |\n  cuda\n"),
    ("a.yaml", "device: [\n"),
    ("a.yaml", "{{ if x }}\ndevice: cuda\n{{ end }}\n"),
    ("a.json", '{"name": "cuda", "device": "the cuda device"}'),
    ("a.json", '{"device": "cu\\u0064a"}'),
    ("a.json", '{"device": "cuda"'),
    ("a.toml", "name = 'cuda'\ndevice = \n"),
    ("a.ini", "[a]\nname = cuda\n; device = cuda\n"),
    ("package-lock.json.txt", "device: cuda\n"),
]


@pytest.mark.parametrize(("path", "text"), UNTOUCHED)
def test_what_is_no_device_stays(path: str, text: str) -> None:
    assert migrated(path, text, unsafe=True) == text
    assert not scanned(path, text, number=NUMBER)


CHANGED = [
    ("a.yaml", "device: cuda  # here\nbackend: 'nccl'\n", "device: npu  # here\nbackend: 'hccl'\n"),
    ("a.yaml", 'a:\n  - device: &d "cuda:0"\n  - device: *d\n', 'a:\n  - device: &d "npu:0"\n  - device: *d\n'),
    ("a.yaml", "device: cuda\n---\ndevice: cuda\n...\n", "device: npu\n---\ndevice: npu\n...\n"),
    ("a.yaml", "\ufeffx: \u00fc\r\ndevice: cuda\r\n", "\ufeffx: \u00fc\r\ndevice: npu\r\n"),
    ("a.yaml", "device: !custom cuda\n", "device: !custom npu\n"),
    ("a.yaml", "devices: [cuda:0, 'cuda:1']\n", "devices: [npu:0, 'npu:1']\n"),
    ("a.yaml", "backend: cpu:gloo,cuda:nccl\n", "backend: cpu:gloo,npu:hccl\n"),
    ("a.json", '{"\u00fc": 1,\t"device" : "cuda:1"}\n', '{"\u00fc": 1,\t"device" : "npu:1"}\n'),
    ("a.toml", "# note\n[train]\ndevice = 'cuda' # x\n", "# note\n[train]\ndevice = 'npu' # x\n"),
    ("a.toml", 'x = { device = "cuda", y = [1] }\n', 'x = { device = "npu", y = [1] }\n'),
    ("a.ini", "[a]\ndevice = cuda:0 ; x\nbackend: nccl\n", "[a]\ndevice = npu:0 ; x\nbackend: hccl\n"),
]


@pytest.mark.parametrize(("path", "before", "after"), CHANGED)
def test_values_change_and_nothing_else(path: str, before: str, after: str) -> None:
    assert migrated(path, before) == after
    assert migrated(path, after, unsafe=True) == after


HELD_BACK = [
    (".github/workflows/a.yml", "jobs:\n  a:\n    with:\n      device: cuda\n"),
    ("results.json", '[{"device": "cuda", "ms": 1}]'),
]


@pytest.mark.parametrize(("path", "text"), HELD_BACK)
def test_values_that_may_be_something_else_wait(path: str, text: str) -> None:
    assert migrated(path, text) == text
    assert "npu" in migrated(path, text, unsafe=True)


MANUAL = [
    ("attn_implementation: flash_attention_2\n", "attn_implementation"),
    ("model:\n  use_flash_attn: true\n", "use_flash_attn"),
    ("optim: paged_adamw_32bit\n", "optim"),
    ("optimizer: adamw8bit\n", "optimizer"),
    ("load_in_8bit: true\n", "load_in_8bit"),
    ("quantization:\n  load_in_4bit: True\n", "load_in_4bit"),
    ("tf32: true\n", "tf32"),
    ("trainer:\n  accelerator: gpu\n", "accelerator"),
]


@pytest.mark.parametrize(("text", "name"), MANUAL)
def test_settings_that_need_cuda_are_left_to_a_person(text: str, name: str) -> None:
    assert outcomes("a.yaml", text, NUMBER) == [("manual", name)]


def test_what_is_switched_off_is_fine() -> None:
    text = "use_flash_attn: false\nload_in_8bit: false\ntf32: false\noptim: adamw_torch\naccelerator: cpu\n"
    assert not scanned("a.yaml", text, number=NUMBER)


def test_names_of_frameworks() -> None:
    assert migrated("a.yaml", "distributed_type: MULTI_GPU\n") == "distributed_type: MULTI_NPU\n"
    text = "a:\n  _target_: torch.cuda.Event\nb:\n  _target_: torch.cuda.nvtx.range\n"
    assert migrated("a.yaml", text) == text
    assert migrated("a.yaml", text, unsafe=True) == text.replace("torch.cuda.Event", "torch.npu.Event")


def test_values_below_the_name() -> None:
    text = "parameters:\n  device:\n    values: [cuda, cpu]\n  name:\n    value: cuda\n"
    assert migrated("a.yaml", text) == text.replace("[cuda", "[npu")


@pytest.mark.parametrize(("path", "text"), [("a.yaml", "device: cuda\nx: [\n"), ("a.json", '{"device": "cuda"')])
def test_a_file_that_cannot_be_read_is_named(path: str, text: str) -> None:
    assert [remark.number for remark in scanned(path, text)] == ["TW901"]


def test_large_files_are_data() -> None:
    text = '{"device": "cuda", "x": [' + "1, " * 1_000_000 + "1]}"
    assert not scanned("a.json", text)


def test_other_styles_leave_configuration_alone() -> None:
    (found,) = scanned("a.yaml", "device: cuda\n", number=NUMBER, style="agnostic")
    assert (found.outcome, found.edits) == ("manual", ())
