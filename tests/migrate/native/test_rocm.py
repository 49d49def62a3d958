"""Code for AMD GPUs is known by its folder, its conditions and its headers; code that serves both is not."""

from __future__ import annotations

import pytest

from trainwright.migrate.native.masking import without_comments, without_strings
from trainwright.migrate.native.rocm import is_rocm_path, rocm_ranges

PATHS = [
    ("csrc/attention/kernel.cu", False),
    ("csrc/ship/chip.cu", False),
    ("amdahl/a.cu", False),
    ("csrc/hip_cuda_compat.h", False),
    ("pkg/block.py", False),
    ("csrc/rocm/a.cu", True),
    ("csrc/flash_attn_ck/a.cpp", True),
    ("attention/hip_fmha/a.cpp", True),
    ("models/amd/ops.py", True),
    ("csrc/a.hip", True),
    ("csrc/layer_hip.cpp", True),
    ("ops/rocm_aiter_ops.py", True),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_paths(path: str, expected: bool) -> None:
    assert is_rocm_path(path) is expected


#: `X` stands where only ROCm may see it, `_` where others may.
TEXTS = [
    "_\n",
    '#include "hip/hip_runtime.h"\n#include <cuda_runtime.h>\n_\n',
    "#ifdef USE_CUDA\n_\n#else\n_\n#endif\n",
    "#ifdef USE_ROCM\n#include <hip/hip_runtime.h>\n#endif\n_\n",
    "#if defined(__CUDACC__) || defined(__HIPCC__)\n_\n#endif\n",
    "#ifndef USE_ROCM\n_\n#endif\n_\n",
    "// #ifdef USE_ROCM\n_\n",
    "#ifdef USE_ROCM\nX\n#else\n_\n#endif\n_\n",
    "#ifdef __HIP_PLATFORM_AMD__\nX\n#endif\n",
    "#ifndef USE_ROCM\n_\n#else\nX\n#endif\n",
    "#if !defined(USE_ROCM)\n_\n#elif FAST\nX\n#else\nX\n#endif\n",
    "#if defined(USE_ROCM) && FAST\nX\n#else\n_\n#endif\n",
    "#if defined(__GFX11__)\nX\n#elif defined(__gfx942__)\nX\n#endif\n_\n",
    "#ifdef USE_ROCM\n#ifdef FAST\nX\n#else\nX\n#endif\n#endif\n_\n",
    '#include "hip/hip_runtime.h"\nX\n',
    "#include <ATen/hip/HIPContext.h>\nX\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_ranges(text: str) -> None:
    data = text.encode()
    ranges = rocm_ranges("a.cu", without_comments(data), without_strings(data))
    offset = 0
    for line in text.splitlines(keepends=True):
        if line.strip() in ("X", "_"):
            assert any(start <= offset < end for start, end in ranges) is (line.strip() == "X"), line
        offset += len(line)
