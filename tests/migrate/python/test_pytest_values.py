"""Devices that pytest gives to tests change where they are listed and where they are compared, or in neither place."""

from __future__ import annotations

import pytest

from tests.migrate.python.check import migrated

STAY = [
    "@pytest.fixture(params=['triton', 'cuda'])\ndef impl(request):\n    return request.param == 'cuda'\n",
    "@pytest.mark.parametrize('impl', ['triton', 'cuda'])\ndef test(impl):\n    assert impl == 'cuda'\n",
    "@pytest.mark.parametrize('impl,n', [('cuda', 1)])\ndef test(impl, n):\n    torch.ones(n)\n",
    "@pytest.mark.parametrize('device', ['cuda'], indirect=True)\ndef test(thing):\n    thing()\n",
    "def test():\n    assert str(kernel('x')) == 'cuda:1'\n",
]


@pytest.mark.parametrize("code", STAY)
def test_what_is_no_device_stays_everywhere(code: str) -> None:
    code = f"import pytest\nimport torch\n{code}"
    assert migrated(code) == code


MOVE = [
    "@pytest.fixture(params=['cpu', 'cuda'])\ndef d(request):\n"
    "    if request.param == 'cuda':\n        pytest.skip()\n    return torch.device(request.param)\n",
    "@pytest.fixture(params=[pytest.param('cuda', marks=slow)])\ndef where(request):\n    return request.param\n"
    "def test(where):\n    torch.ones(1, device=where)\n",
    "@pytest.mark.parametrize('where', ['cpu', pytest.param('cuda', marks=slow)])\ndef test(where):\n"
    "    torch.ones(1, device=where)\n",
    "@pytest.mark.parametrize('n,device', [(1, 'cpu'), pytest.param(2, 'cuda', marks=slow), (3, 'cuda:1')])\n"
    "def test(n, device):\n    assert device == 'cuda'\n",
    "@pytest.mark.parametrize(('device', 'n'), [('cuda', 1)])\ndef test(n, device):\n    torch.ones(n)\n",
    "@pytest.mark.parametrize('device', ['cuda'])\nclass Test:\n    def test(self, device):\n        assert device\n",
    "def test(x):\n    assert str(x.device) == 'cuda:1'\n    assert str(select_device('1')) == 'cuda:1'\n",
    "def test():\n    assert str(torch.device('cuda', 1)) == 'cuda:1'\n",
]


@pytest.mark.parametrize("code", MOVE)
def test_devices_move_everywhere(code: str) -> None:
    code = f"import pytest\nimport torch\n{code}"
    once = migrated(code)
    assert once == code.replace("'cuda", "'npu")
    assert migrated(once) == once
