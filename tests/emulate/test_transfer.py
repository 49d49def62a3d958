"""`transfer_to_npu`: a program that says cuda runs on the device. In a process of its own, because it stays."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json
from trainwright.emulate import install

install(devices=2, memory_gib=4)
import torch
from torch_npu.contrib import transfer_to_npu

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 2).cuda()
with torch.cuda.amp.autocast(dtype=torch.float16):
    half = model(torch.ones(1, 2).cuda())
with torch.autocast("cuda", dtype=torch.bfloat16):
    brain = model(torch.ones(1, 2, device="cuda"))
print(json.dumps({
    "count": torch.cuda.device_count(),
    "model": str(model.weight.device),
    "factory": str(torch.zeros(2, device="cuda:1").device),
    "to": str(torch.ones(2).to("cuda:1").device),
    "to a number": str(torch.ones(2).to(1).device),
    "module to": str(model.to("cuda:1").weight.device),
    "is_cuda": half.is_cuda,
    "dtypes": [str(half.dtype), str(brain.dtype)],
    "scaler": torch.amp.GradScaler("cuda")._device,
    "memory": torch.cuda.memory_allocated() > 0,
    "stays": str(torch.ones(2).device),
}))
"""


def test_what_says_cuda_is_done_on_the_npu() -> None:
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "count": 2,
        "model": "npu:0",
        "factory": "npu:1",
        "to": "npu:1",
        "to a number": "npu:1",
        "module to": "npu:1",
        "is_cuda": True,
        "dtypes": ["torch.float16", "torch.bfloat16"],
        "scaler": "npu",
        "memory": True,
        "stays": "cpu",
    }
