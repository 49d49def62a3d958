"""``import torch_npu`` lands where every use can see it."""

from __future__ import annotations

import ast

import pytest

from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.python.registration import registration
from trainwright.migrate.source import python_source
from trainwright.migrate.splice import spliced

CASES = [
    ("import torch\nx = 1\n", "import torch\nimport torch_npu\nx = 1\n"),
    ("import torch  # the library\n", "import torch  # the library\nimport torch_npu\n"),
    ("import torch; x = 1\n", "import torch; import torch_npu; x = 1\n"),
    ("import torch", "import torch\nimport torch_npu"),
    (
        '"""Text."""\nfrom __future__ import annotations\ndef f():\n    import torch\n',
        '"""Text."""\nfrom __future__ import annotations\nimport torch_npu\ndef f():\n    import torch\n',
    ),
    (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
        "from typing import TYPE_CHECKING\nimport torch_npu\nif TYPE_CHECKING:\n    import torch\n",
    ),
    (
        "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
        "try:\n    import torch\n    import torch_npu\nexcept ImportError:\n    torch = None\n",
    ),
    ("def f():\n    import torch\n", "import torch_npu\ndef f():\n    import torch\n"),
    ("import torch\r\nx = 1\r\n", "import torch\r\nimport torch_npu\r\nx = 1\r\n"),
]


@pytest.mark.parametrize(("before", "after"), CASES)
def test_the_import_lands_at_the_top_once(before: str, after: str) -> None:
    assert written(before) == after
    assert written(after) == after


def written(code: str) -> str:
    source = python_source("a.py", code.encode())
    file = PythonFile(source=source, tree=ast.parse(code), project=Project(), options=Options())
    edit = registration(file)
    return spliced(source, [edit] if edit else []).decode()
