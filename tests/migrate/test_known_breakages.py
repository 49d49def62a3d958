"""What other migration tools break: every kind of input must come out working, or untouched and named (B1 to B24).

Each case is a small project of its own; the kinds come from a list of defects observed on public repositories.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.migrate.made_project import Made, made

KEPT = {
    "B1 star arguments": "def to(self, *args, **kwargs):\n    return self.tensors.to(*args, **kwargs)\n",
    "B1 keyword arguments": "def f(x, kw):\n    return x.to(**kw)\n",
    "B2 hasattr of a wrapped module": 'def f(model):\n    return hasattr(model.module, "x")\n',
    "B3 a folder called cuda": 'import os\nfiles = os.path.join(here, "cuda", "*.cu")\n',
    "B8 an argument with a side effect": "def f(x, it):\n    return x.to(next(it))\n",
    "B12 a setting called CUDA": "class Cfg:\n    CUDA = True\nprint(Cfg.CUDA)\n",
    "B12 an attribute called cuda": 'def f(m):\n    m.cuda = True\n    setattr(m, "cuda", 1)\n    return m.cuda\n',
    "B13 prose": 'print("install the cuda: toolkit")\n',
    "B13 an address": 'URL = "https://pytorch.org/docs/stable/torch.cuda.html"\n',
    "B14 a unit": "def f(length, unit):\n    return length.to(unit)\n",
    "B14 a parser": 'def f(parser):\n    return parser.cuda("x")\n',
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT.keys())
def test_what_is_no_device_stays(tmp_path: Path, code: str) -> None:
    assert made(tmp_path, {"a.py": code}).text("a.py") == code


def test_b2_nothing_is_said_without_a_message(tmp_path: Path) -> None:
    project = made(tmp_path, {"a.py": 'import torch\nx = torch.device("cuda")\nm = torch.nn.DataParallel(x)\n'})
    assert project.remarks()
    assert all(remark.title for remark in project.remarks())


def test_b4_the_python_fallback_is_kept(tmp_path: Path) -> None:
    code = "def f(x):\n    if x.is_cuda:\n        return kernel(x)\n    else:\n        return slow(x)\n"
    project = made(tmp_path, {"a.py": code}, unsafe=True)
    assert project.text("a.py") == code
    assert [remark.outcome for remark in project.remarks("TW105")] == ["note"]


def test_b5_every_function_sees_torch_npu(tmp_path: Path) -> None:
    code = (
        "def one():\n    import torch\n    torch.cuda.synchronize()\n"
        "def two():\n    import torch\n    torch.cuda.empty_cache()\n"
    )
    assert top_level_imports(made(tmp_path, {"a.py": code}).text("a.py")) == ["torch_npu"]


def test_b6_never_under_type_checking(tmp_path: Path) -> None:
    code = (
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"
        "def g(x: torch.Tensor):\n    return x.cuda()\n"
    )
    text = made(tmp_path, {"a.py": code}).text("a.py")
    assert "torch_npu" in top_level_imports(text)
    assert text.startswith("from __future__")
    assert "x.npu()" in text


def top_level_imports(code: str) -> list[str]:
    return [alias.name for node in ast.parse(code).body if isinstance(node, ast.Import) for alias in node.names]


def test_b7_other_modules_of_a_statement_stay(tmp_path: Path) -> None:
    code = "import amp_C, os\nprint(os.sep)\n"
    project = made(tmp_path, {"a.py": code})
    assert project.text("a.py") == code
    assert [remark.number for remark in project.remarks()] == ["TW601"]


def test_b9_encodings_and_marks_are_kept(tmp_path: Path) -> None:
    gbk = '# -*- coding: gbk -*-\nimport torch\n# 设备\nd = torch.device("cuda")\n'.encode("gbk")
    bom = b'\xef\xbb\xbfimport torch\r\nd = torch.device("cuda")\r\n'
    project = made(tmp_path, {"gbk.py": gbk, "bom.py": bom})
    assert project.data("gbk.py").decode("gbk").splitlines()[2:] == [
        "import torch_npu",
        "# 设备",
        'd = torch.device("npu")',
    ]
    assert project.data("bom.py") == b'\xef\xbb\xbfimport torch\r\nimport torch_npu\r\nd = torch.device("npu")\r\n'


B10 = ["nvtx.range_push('a')", "comm.scatter(x, [0])", "nccl.version()", "get_arch_list()", "_sleep(10)"]


@pytest.mark.parametrize("call", B10)
def test_b10_names_that_do_not_exist_are_never_written(tmp_path: Path, call: str) -> None:
    code = f"import torch\ntorch.cuda.{call}\n"
    project = made(tmp_path, {"a.py": code})
    assert project.text("a.py") == code
    assert {remark.outcome for remark in project.remarks()} <= {"manual", "blocked"}
    assert project.remarks()


def test_b10_renamed_names_are_followed(tmp_path: Path) -> None:
    project = made(tmp_path, {"a.py": "import torch\ng = torch.cuda.CUDAGraph()\n"})
    assert "torch.npu.NPUGraph()" in project.text("a.py")


def test_b11_backends_by_device(tmp_path: Path) -> None:
    code = 'import torch.distributed as dist\ndist.init_process_group("cpu:gloo,cuda:nccl")\n'
    assert '"cpu:gloo,npu:hccl"' in made(tmp_path, {"a.py": code}).text("a.py")


def test_b12_an_override_of_cuda_and_its_use_go_together(tmp_path: Path) -> None:
    code = (
        "import torch\nclass Net(torch.nn.Module):\n    def cuda(self, device=None):\n        return self\n"
        "net = Net()\nnet.cuda()\n"
    )
    assert made(tmp_path, {"a.py": code}, unsafe=True).text("a.py") == code


NATIVE = {
    "ext.cpp": "#include <torch/extension.h>\nat::Tensor f(at::Tensor a, at::Tensor b);\n"
    'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &f); m.def("backward", &f); }\n',
    "ext.cu": "__global__ void k(float* a) { a[0] = 1; }\n"
    "at::Tensor f(at::Tensor a, at::Tensor b) { k<<<1, 1>>>(a.data_ptr<float>()); return a; }\n",
    "setup.py": "from torch.utils.cpp_extension import CUDAExtension\n"
    'ext = CUDAExtension("my", ["ext.cpp", "ext.cu"])\n',
}


def test_b15_methods_are_not_operators(tmp_path: Path) -> None:
    code = "import torch\nloss.backward()\nmodel.forward(x)\n"
    project = made(tmp_path, {**NATIVE, "a.py": code})
    assert project.remarks("TW607", "a.py") == []


def test_b16_cpu_bindings_are_not_cuda(tmp_path: Path) -> None:
    cpp = (
        "#include <pybind11/pybind11.h>\nint build(int a) { return a; }\n"
        'PYBIND11_MODULE(helpers, m) { m.def("build", &build); }\n'
    )
    project = made(tmp_path, {"data/helpers.cpp": cpp, "a.py": "from data import helpers\nhelpers.build(1)\n"})
    assert project.remarks() == []


def test_b17_calls_of_operators_are_found_whatever_their_arity(tmp_path: Path) -> None:
    project = made(tmp_path, {**NATIVE, "a.py": "import my\nmy.forward(1, 2)\nmy.forward(1)\n"})
    calls = [remark for remark in project.remarks("TW607", "a.py") if "forward" in remark.title]
    assert len(calls) == 2


def test_b18_python_2_is_in_the_report(tmp_path: Path) -> None:
    project = made(tmp_path, {"a.py": "print 'x', x.cuda()\n"})
    assert [remark.number for remark in project.remarks()] == ["TW901"]


def test_b19_b20_counts_do_not_grow_with_files_and_name_them(tmp_path: Path) -> None:
    few = made(tmp_path / "few", NATIVE)
    many = made(tmp_path / "many", {**NATIVE, **{f"f{at}.py": "import torch\n" for at in range(5)}})
    assert len(few.remarks("TW605")) == len(many.remarks("TW605")) == 1
    assert all(path for path, _ in many.found())


def test_b21_modes_are_kept(tmp_path: Path) -> None:
    project = made(
        tmp_path,
        {"run": "#!/bin/sh\nnvidia-smi\n", "a.py": "import torch\ntorch.cuda.synchronize()\n"},
        modes={"run": 0o755},
    )
    assert project.mode("run") == 0o755
    assert project.mode("a.py") == 0o644


def test_b22_one_line_says_what_a_row_is_about(tmp_path: Path) -> None:
    project = made(tmp_path, {"a.py": "import torch\nm = torch.nn.DataParallel(torch.nn.Linear(1, 1))\n"})
    assert all("\n" not in remark.title + remark.advice for remark in project.remarks())


def test_b23_places_are_those_of_the_original(tmp_path: Path) -> None:
    code = 'import torch\n\nd = torch.device("cuda")\n'
    project = made(tmp_path, {"a.py": code})
    (scanned,) = project.scan.files
    assert [place.region[:2] for place in scanned.places] == [(3, 18)]


def test_b24_choices_and_scripts_change_together(tmp_path: Path) -> None:
    files = {
        "arguments.py": "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--distributed-backend', default='nccl', choices=['nccl', 'gloo'])\n",
        "train.py": "import torch\nfrom arguments import parser\nargs = parser.parse_args()\n"
        "torch.distributed.init_process_group(backend=args.distributed_backend)\n",
        "run.sh": "#!/bin/sh\ntorchrun train.py --distributed-backend nccl\n",
    }
    project: Made = made(tmp_path, files)
    assert "default='hccl', choices=['hccl', 'gloo']" in project.text("arguments.py")
    assert "--distributed-backend hccl" in project.text("run.sh")
