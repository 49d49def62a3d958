"""A project out of a few texts, scanned as a whole: what the tests of native code look at."""

from __future__ import annotations

from collections.abc import Mapping

from trainwright.migrate.native.read import SUFFIXES, native_facts
from trainwright.migrate.native.scan import scan_native
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project, merged
from trainwright.migrate.python.learn import learn_python
from trainwright.migrate.python.scan import scan_python
from trainwright.migrate.remark import Remark
from trainwright.migrate.source import Source, plain_source, python_source


def source_of(path: str, text: str) -> Source:
    """One file of the project."""
    return python_source(path, text.encode()) if path.endswith(".py") else plain_source(path, text.encode())


def project_of(files: Mapping[str, str]) -> Project:
    """What the files tell each other."""
    sources = [source_of(path, text) for path, text in files.items()]
    return merged(
        native_facts(source) if source.path.endswith(SUFFIXES) else learn_python(source) for source in sources
    )


def found_in(files: Mapping[str, str], number: str) -> list[tuple[str, int, Remark]]:
    """Path, line and remark of one rule over the whole project, in order of the files."""
    project, found = project_of(files), []
    for path, text in files.items():
        source = source_of(path, text)
        scan = scan_native if path.endswith(SUFFIXES) else scan_python
        for remark in scan(source, project, Options()):
            if remark.number == number:
                found.append((path, source.position(remark.start)[0], remark))
    return found


#: A whole extension: binding, dispatcher, launcher and kernel in files of their own, beside a binding for the CPU.
FOCAL = {
    "setup.py": """
import glob
import os
import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, CppExtension, CUDAExtension

here = os.path.dirname(os.path.abspath(__file__))
csrc = os.path.join(here, "vision", "csrc")
sources = glob.glob(os.path.join(csrc, "*.cpp"))
extension = CppExtension
if torch.cuda.is_available() and CUDA_HOME is not None:
    extension = CUDAExtension
    sources += glob.glob(os.path.join(csrc, "cuda", "*.cu"))
setup(ext_modules=[extension("vision._C", sources), CppExtension("vision.helpers", ["vision/cpu/helpers.cpp"])])
""",
    "vision/csrc/bind.cpp": """
#include <torch/extension.h>
#include "focal.h"
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("focal_forward", &focal_forward, "forward");
  m.def("count", &count);
}
int64_t count(const at::Tensor& x) { return x.numel(); }
""",
    "vision/csrc/focal.h": """
#pragma once
at::Tensor focal_forward(const at::Tensor& x, float alpha) {
  if (x.is_cuda()) {
#ifdef WITH_CUDA
    return focal_forward_cuda(x, alpha);
#endif
  }
  AT_ERROR("not on the CPU");
}
""",
    "vision/csrc/cuda/focal.cu": """
#include <ATen/ATen.h>
template <typename T>
__global__ void focal_kernel(const T* x, T* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }
at::Tensor focal_forward_cuda(const at::Tensor& x, float alpha) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "focal", ([&] {
    focal_kernel<scalar_t><<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<scalar_t>(), nullptr, 1);
  }));
  return x;
}
""",
    "vision/cpu/helpers.cpp": """
#include <pybind11/pybind11.h>
int build(int n) { return n; }
int forward(int n) { return build(n); }
PYBIND11_MODULE(helpers, m) {
  m.def("build", &build);
  m.def("forward", &forward);
}
""",
}
