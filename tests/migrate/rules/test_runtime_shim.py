"""Style shim: one import, where the program starts, before every name is bound (rule runtime_shim)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.made_project import made

MAIN = 'if __name__ == "__main__":\n    main()\n'
SHIM = "from torch_npu.contrib import transfer_to_npu\n"
CASES = [
    (f"import torch\n{MAIN}", f"{SHIM}import torch\n{MAIN}"),
    (f"from torch import zeros\n{MAIN}", f"{SHIM}from torch import zeros\n{MAIN}"),
    (
        f'"""Text."""\nfrom __future__ import annotations\nimport torch\n{MAIN}',
        f'"""Text."""\nfrom __future__ import annotations\n{SHIM}import torch\n{MAIN}',
    ),
    (
        f"#!/usr/bin/env python\n# trains\nimport torch\n{MAIN}",
        f"#!/usr/bin/env python\n# trains\n{SHIM}import torch\n{MAIN}",
    ),
    (f"import os\nimport torch\n{SHIM}{MAIN}", f"import os\nimport torch\n{SHIM}{MAIN}"),
    (f"import os\n{MAIN}", f"import os\n{MAIN}"),
    ("import torch\ntorch.cuda.synchronize()\n", "import torch\ntorch.cuda.synchronize()\n"),
]


@pytest.mark.parametrize(("before", "after"), CASES)
def test_entry_points_get_the_import_once(tmp_path: Path, before: str, after: str) -> None:
    assert made(tmp_path, {"train.py": before}, style="shim").text("train.py") == after


def test_a_program_that_imports_the_project_gets_it_and_modules_do_not(tmp_path: Path) -> None:
    files = {"model.py": 'import torch\nx = torch.zeros(1, device="cuda")\n', "train.py": f"import model\n{MAIN}"}
    project = made(tmp_path, files, style="shim")
    assert project.text("train.py").startswith(SHIM)
    assert project.text("model.py") == files["model.py"]
