"""A device given to a function of torch.cuda is rewritten when the function is, and stays when it stays."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated

STAY = [
    'torch.cuda.get_device_capability("cuda")',
    'torch.cuda.get_device_properties("cuda:{}".format(i)).major',
    'torch.cuda.get_device_properties(f"cuda:{i}").major',
    'torch.cuda.get_device_properties("cuda" + str(i)).major',
    'torch.cuda.get_device_properties("cuda:%d" % i).minor',
    'torch.cuda.get_device_properties(torch.device("cuda", i)).warp_size',
    'torch.cuda.get_device_properties(device="cuda").major',
]


@pytest.mark.parametrize("call", STAY)
def test_the_argument_of_a_call_that_stays_stays(call: str) -> None:
    code = f"import torch\ndef f(i):\n    return {call}\n"
    assert migrated(code) == code


def test_in_the_agnostic_style_too() -> None:
    code = 'import torch\nname = torch.cuda.get_device_name("cuda:0")\n'
    assert migrated(code, style="agnostic") == code


MOVE = [
    'torch.cuda.get_device_name(f"cuda:{i}")',
    'torch.cuda.get_device_properties("cuda:{}".format(i)).total_memory',
    'torch.cuda.synchronize(torch.device("cuda", i))',
]


@pytest.mark.parametrize("call", MOVE)
def test_the_argument_of_a_call_that_moves_moves(call: str) -> None:
    code = f"import torch\ndef f(i):\n    return {call}\n"
    assert migrated(code) == code.replace("cuda", "npu")


def test_a_function_imported_by_name() -> None:
    code = 'import torch\nfrom torch.cuda import get_device_name\nname = get_device_name("cuda:0")\n'
    assert migrated(code) == code.replace("torch.cuda", "torch_npu.npu").replace("cuda:0", "npu:0")
