"""C++ and CUDA files are recognised, learnt from and scanned, and never changed."""

from __future__ import annotations

import pytest

from tests.migrate.native.small_project import FOCAL, project_of
from trainwright.migrate.languages.cuda_source import LANGUAGE
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project


@pytest.mark.parametrize("path", ["a.cu", "a.cuh", "x/a.cpp", "a.cc", "a.cxx", "a.h", "a.hpp", "a.hip", "A.CU"])
def test_native_sources_are_taken(path: str) -> None:
    assert LANGUAGE.matches(path, b"int x;")


@pytest.mark.parametrize(("path", "head"), [("a.py", b""), ("a.c", b""), ("cuda", b""), ("a.h", b"\0\1binary")])
def test_other_files_are_not(path: str, head: bytes) -> None:
    assert not LANGUAGE.matches(path, head)


def test_a_scan_gives_remarks_and_no_edits() -> None:
    path = "vision/csrc/cuda/focal.cu"
    source = LANGUAGE.read(path, FOCAL[path].encode())
    remarks = LANGUAGE.scan(source, project_of(FOCAL), Options())
    assert [remark.name for remark in remarks] == ["focal_kernel"]
    assert not any(remark.edits for remark in remarks)


def test_a_file_alone_is_scanned_too() -> None:
    source = LANGUAGE.read("a.cu", b"__global__ void k(int n) {}")
    assert [remark.name for remark in LANGUAGE.scan(source, Project(), Options())] == ["k"]
    assert LANGUAGE.learn(source).kernels == ("k",)
