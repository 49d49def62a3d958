"""Forms in which code ties itself to CUDA, each rewritten or named; other tools see about half of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.made_project import made

REWRITTEN = [
    ("import torch.cuda as tc\ntc.synchronize()\n", "torch_npu.npu as tc"),
    ("from torch import cuda\ncuda.synchronize()\n", "from torch_npu import npu as cuda"),
    ("from torch.cuda.amp import autocast\nwith autocast():\n    pass\n", 'autocast("npu")'),
    ('import torch\nm = getattr(torch, "cuda")\nm.synchronize()\n', 'getattr(torch, "npu")'),
    ('import torch\nd = torch.device(f"cuda:{i}")\n', 'f"npu:{i}"'),
    ('import torch\nd = torch.device("cuda:%d" % i)\n', '"npu:%d" % i'),
    ('import torch\nd = torch.device("cuda:{}".format(i))\n', '"npu:{}".format(i)'),
    ('import torch\nd = torch.device("cu" "da")\n', "npu"),
    ('import torch\nd = torch.device("cu" + "da")\n', "npu"),
    ('import torch\nd = torch.device(f"cuda")\n', 'f"npu"'),
    ('import torch\nif (d := "cuda") and ok:\n    torch.zeros(1, device=d)\n', '(d := "npu")'),
    ('import torch\ndef f(x):\n    match x.device.type:\n        case "cuda":\n            pass\n', 'case "npu"'),
    ("import torch\nx = torch.load(p, map_location={'cuda:0': 'cuda:1'})\n", "{'cuda:0': 'npu:1'}"),
    ("import torch\nx = torch.load(p, map_location=lambda s, l: s.cuda(1))\n", ""),
    (
        "import argparse, torch\np = argparse.ArgumentParser()\n"
        "p.add_argument('--device', default='cuda', choices=['cuda', 'cpu'])\na = p.parse_args()\n"
        "torch.zeros(1, device=a.device)\n",
        "default='npu', choices=['npu', 'cpu']",
    ),
    ('import torch.distributed as dist\ndist.init_process_group(backend="nccl")\n', 'backend="hccl"'),
    (
        'from torch.utils.data import DataLoader\nl = DataLoader(d, pin_memory_device="cuda")\n',
        'pin_memory_device="npu"',
    ),
    ('import torch\ng = torch.Generator(device="cuda")\n', 'Generator(device="npu")'),
    ('import importlib\nm = importlib.import_module("torch.cuda")\nm.synchronize()\n', 'import_module("torch.npu")'),
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\n', '"ASCEND_RT_VISIBLE_DEVICES"'),
    ('import os\nos.environ["CUDA_LAUNCH_BLOCKING"] = "1"\n', '"ASCEND_LAUNCH_BLOCKING"'),
]


@pytest.mark.parametrize(("code", "part"), REWRITTEN)
def test_forms_that_are_rewritten(tmp_path: Path, code: str, part: str) -> None:
    assert part in made(tmp_path, {"a.py": code}).text("a.py")


NAMED = [
    ("from torch import cuda\nx = cuda.get_device_capability()\n", "TW106"),
    ("import torch\nx = torch.distributed.Backend.NCCL\n", "TW301"),
    ("import torch.distributed as dist\nok = dist.is_nccl_available()\n", "TW301"),
    ('import os\nos.system("nvidia-smi")\n', "TW702"),
    ("import torch\nx = float(torch.version.cuda)\n", "TW107"),
    ("import torch\ntorch.backends.cudnn.benchmark = True\n", "TW107"),
    ("import torch\nwith torch.backends.cuda.sdp_kernel(enable_math=False):\n    pass\n", "TW107"),
    ("import torch\ntorch._C._cuda_getDevice()\n", "TW103"),
    ('import torch\nm = torch.compile(m, mode="reduce-overhead")\n', "TW401"),
    ("import torch\no = torch.optim.Adam(p, fused=True)\n", "TW203"),
    ('import torch\nx = torch.zeros(1, dtype=torch.float64, device="cuda")\n', "TW202"),
    (
        "from transformers import AutoModel as A\nA.from_pretrained('a', attn_implementation='flash_attention_2')\n",
        "TW505",
    ),
    ("from transformers import BitsAndBytesConfig\nc = BitsAndBytesConfig(load_in_8bit=True)\n", "TW507"),
    ('from transformers import TrainingArguments\na = TrainingArguments(optim="paged_adamw_32bit")\n', "TW508"),
    ("from transformers import TrainingArguments\na = TrainingArguments(tf32=True)\n", "TW509"),
    ("import bitsandbytes as bnb\nl = bnb.nn.Linear8bitLt(1, 1)\n", "TW601"),
    ("import triton\n@triton.jit\ndef k(x): ...\n", "TW603"),
    ("from apex import amp\n", "TW601"),
    ("import transformer_engine.pytorch as te\n", "TW601"),
    ('import torch\nd = torch.device(b"cuda".decode())\n', "TW101"),
]


@pytest.mark.parametrize(("code", "number"), NAMED)
def test_forms_that_are_named(tmp_path: Path, code: str, number: str) -> None:
    assert number in {remark.number for remark in made(tmp_path, {"a.py": code}).remarks()}


def test_device_maps_of_hugging_face_are_rewritten(tmp_path: Path) -> None:
    code = 'from transformers import AutoModel\nm = AutoModel.from_pretrained("a", device_map="cuda")\n'
    assert 'device_map="npu"' in made(tmp_path, {"a.py": code}).text("a.py")


FILES = {
    "config.yaml": ("device: cuda  # where\n", "device: npu  # where\n"),
    "config.json": ('{"backend": "nccl"}\n', None),
    "run.sh": ("export CUDA_VISIBLE_DEVICES=0\n", "export ASCEND_RT_VISIBLE_DEVICES=0\n"),
    "Dockerfile": ("FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\n", None),
    "requirements.txt": ("torch==2.1.0+cu118\nflash-attn\n", None),
    "setup.py": ("from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('a', ['a.cu'])\n", None),
}


@pytest.mark.parametrize("name", FILES)
def test_files_other_than_modules_are_read(tmp_path: Path, name: str) -> None:
    before, after = FILES[name]
    project = made(tmp_path, {name: before})
    assert project.remarks()
    assert after is None or project.text(name) == after
