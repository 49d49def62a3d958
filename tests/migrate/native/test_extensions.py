"""Which modules a build script makes, and out of which files."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, source_of
from trainwright.migrate.python.learn import learn_python

HEAD = """
import glob, os
from pathlib import Path
from torch.utils import cpp_extension
from torch.utils.cpp_extension import CUDAExtension, CppExtension, load, load_inline
"""


def extensions(code: str) -> list[tuple[str, tuple[str, ...], bool]]:
    found = learn_python(source_of("setup.py", HEAD + code)).extensions
    return [(item.module, item.sources, item.cuda) for item in found]


NOTHING = [
    "import json\nx = json.load(open('a'))",
    "def CUDAExtension2(name): ...\nCUDAExtension2('x')",
    "from setuptools import Extension\nExtension('x', ['a.c'])",
]


@pytest.mark.parametrize("code", NOTHING)
def test_what_declares_no_module(code: str) -> None:
    assert extensions(code) == []


CASES = [
    ("CppExtension('x', ['a.cpp'])", [("x", ("a.cpp",), False)]),
    ("CUDAExtension('x', ['a.cpp', './b.cu'])", [("x", ("a.cpp", "b.cu"), True)]),
    ("cpp_extension.CUDAExtension(name='x', sources=['a.cu'])", [("x", ("a.cu",), True)]),
    ("CUDAExtension('x', ['a.cpp'] + ['b.cu'])", [("x", ("a.cpp", "b.cu"), True)]),
    ("names = ['a', 'b']\nCUDAExtension('x', [f'src/{n}.cu' for n in names])", [("x", ("src/a.cu", "src/b.cu"), True)]),
    ("CUDAExtension('x', glob.glob(os.path.join(here(), 'src', '*.cu')))", [("x", ("src/*.cu",), True)]),
    ("root = Path('src')\nCUDAExtension('x', [str(p) for p in root.glob('*.cu')])", [("x", ("src/*.cu",), True)]),
    ("files = ['a.cpp']\nfiles.append('b.cu')\nCUDAExtension('x', files)", [("x", ("a.cpp", "b.cu"), True)]),
    (
        "files = ['a.cu']\nfiles = [os.path.join('d', f) for f in files]\nCUDAExtension('x', files)",
        [("x", ("a.cu", "d/a.cu"), True)],
    ),
    ("load(name='x', sources=['a.cpp'])", [("x", ("a.cpp",), False)]),
    ("ext = load('x', ['a.cu'])", [("x", ("a.cu",), True), ("@ext", ("a.cu",), True)]),
    ("load_inline('x', cpp_sources='', cuda_sources=text)", [("x", (), True)]),
    ("load('x', files(), extra_cuda_cflags=[])", [("x", (), True)]),
    ("from setuptools import Extension\nExtension('x', ['a.cu'])", [("x", ("a.cu",), True)]),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_each_form(code: str, expected: list[tuple[str, tuple[str, ...], bool]]) -> None:
    assert extensions(code) == expected


def test_a_variable_that_is_one_of_two_makers() -> None:
    first, second = learn_python(source_of("setup.py", FOCAL["setup.py"])).extensions
    assert (first.module, first.cuda) == ("vision._C", True)
    assert first.sources == ("vision/csrc/*.cpp", "vision/csrc/cuda/*.cu")
    assert (second.module, second.cuda, second.sources) == ("vision.helpers", False, ("vision/cpu/helpers.cpp",))
