"""Requirements that cannot be met, or should not be, where there is an NPU: `requirement_pins`."""

from __future__ import annotations

import pytest

from trainwright.migrate.document import Document
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.rules.requirement_pins import RULE, visit_document
from trainwright.migrate.source import plain_source, python_source
from trainwright.migrate.text.content import PackageIndex, Requirement, TextContent
from trainwright.migrate.text.pins import is_below, judged, split_requirement

STAYS = [
    ("numpy", ">=1.26", ""),
    ("torch", "==2.8.0", ""),
    ("torchvision", ">=0.16", ""),
    ("transformers", ">=4.40", ""),
    ("transformers", "", ""),
    ("accelerate", "<2", ""),
    ("flash-attn", "==2.5", 'sys_platform == "darwin"'),
    ("deepspeed", "==0.1", ""),
]


@pytest.mark.parametrize(("name", "specifier", "marker"), STAYS)
def test_what_can_stay(name: str, specifier: str, marker: str) -> None:
    assert judged(name, specifier, marker) is None


SAID = [
    ("torch", "==2.1.0+cu118", "torch ==2.1.0+cu118 asks for a CUDA build"),
    ("pytorch", "=2.1=*cuda11.8*", "pytorch =2.1=*cuda11.8* asks for a CUDA build"),
    ("flash_attn", "==2.5.8", "flash_attn is not for the NPU"),
    ("bitsandbytes", "==0.40.0", "bitsandbytes works on the NPU in part"),
    ("vllm", "", "vllm needs a plugin on the NPU"),
    ("cupy-cuda12x", "", "cupy-cuda12x has no NPU counterpart"),
    ("faiss-gpu", "", "faiss-gpu has no NPU counterpart"),
    ("nvidia-cudnn-cu12", "", "nvidia-cudnn-cu12 is not for the NPU"),
    ("cudatoolkit", "=11.8", "cudatoolkit is not for the NPU"),
    ("transformers", "==4.28.0", "transformers ==4.28.0 is too old for the NPU: 4.32.0 is the first"),
    ("mmcv", "==2.0.1", "mmcv ==2.0.1 is too old for the NPU: 2.2.0 is the first"),
    ("mmcv", ">=2.2", "mmcv works on the NPU in part"),
    ("xformers", "", "xformers is not for the NPU"),
]


@pytest.mark.parametrize(("name", "specifier", "title"), SAID)
def test_what_is_said(name: str, specifier: str, title: str) -> None:
    found = judged(name, specifier)
    assert found is not None
    assert (found.title, found.outcome) == (title, "manual")
    assert found.advice
    assert found.evidence


BELOW = [
    ("==4.28.1", "4.32.0", True),
    ("==4.32.0", "4.32.0", False),
    ("==4.32", "4.32.0", False),
    ("<4.32", "4.32.0", True),
    ("<=4.32", "4.32.0", False),
    ("<4.33", "4.32.0", False),
    ("<5", "4.32.0", False),
    ("~=4.28.0", "4.32.0", True),
    ("~=4.28", "4.32.0", False),
    ("==4.*", "4.32.0", False),
    ("==4.28.*", "4.32.0", True),
    (">=4.0,<4.30", "4.32.0", True),
    (">=4.28", "4.32.0", False),
    ("!=4.28", "4.32.0", False),
    ("", "4.32.0", False),
    ("==1.0", "", False),
    ("nonsense", "4.32.0", False),
]


@pytest.mark.parametrize(("specifier", "version", "below"), BELOW)
def test_versions_that_all_lie_below(specifier: str, version: str, below: bool) -> None:
    assert is_below(specifier, version) is below


SPLIT = [
    ("torch==2.1.0+cu118", ("torch", "==2.1.0+cu118", "")),
    ("flash-attn >= 2 ; python_version > '3.8'", ("flash-attn", ">= 2", "python_version > '3.8'")),
    ("deepspeed[dev]~=0.10", ("deepspeed", "~=0.10", "")),
    ("apex @ git+https://example.org/apex", ("apex", "", "")),
    ("", ("", "", "")),
    ("./local", ("", "", "")),
]


@pytest.mark.parametrize(("text", "parts"), SPLIT)
def test_a_requirement_falls_into_its_parts(text: str, parts: tuple[str, str, str]) -> None:
    assert split_requirement(text) == parts


def _document(*names: str, indexes: tuple[PackageIndex, ...] = ()) -> Document:
    requirements = tuple(Requirement(name=name, specifier="", marker="", start=0, end=1) for name in names)
    content = TextContent(requirements=requirements, indexes=indexes)
    source = plain_source("requirements.txt", b"x")
    return Document(source=source, language="requirements", project=Project(), options=Options(), content=content)


def _titles(document: Document) -> list[str]:
    return [remark.title for remark in visit_document(document)]


def test_torch_wants_torch_npu_beside_it() -> None:
    assert _titles(_document("numpy")) == []
    assert _titles(_document("torch", "torch_npu")) == []
    assert _titles(_document("torch", "numpy")) == ["torch-npu is not asked for beside torch"]


INDEXES = [
    ("https://download.pytorch.org/whl/cu118", True),
    ("https://download.pytorch.org/whl/nightly/cu121", True),
    ("https://pypi.ngc.nvidia.com", True),
    ("nvidia", True),
    ("nvidia/label/cuda-11.8.0", True),
    ("https://download.pytorch.org/whl/cpu", False),
    ("https://example.org/simple", False),
    ("conda-forge", False),
]


@pytest.mark.parametrize(("url", "said"), INDEXES)
def test_an_index_for_cuda_is_told(url: str, said: bool) -> None:
    titles = _titles(_document(indexes=(PackageIndex(url=url, start=0, end=1),)))
    assert titles == ([f"{url} holds packages for CUDA"] if said else [])


def remarks(code: str) -> list[Remark]:
    return scan_python(python_source("setup.py", code.encode()), Project(), Options(), [RULE])


def test_requirements_in_a_setup_script() -> None:
    code = (
        "from setuptools import setup\n"
        "setup(name='flash-attn', install_requires=['torch', 'xformers>=0.0.20'],\n"
        "      extras_require={'triton': ['bitsandbytes'], 'dev': ['pytest']})\n"
    )
    assert [code[found.start : found.end] for found in remarks(code)] == ["'xformers>=0.0.20'", "'bitsandbytes'"]
    assert remarks("from mine import setup\nsetup(install_requires=['xformers'])\n") == []
