"""The version that the emulated ``torch_npu`` gives itself: that of torch, which is how torch_npu counts."""

from __future__ import annotations

import torch

__version__ = f"{torch.__version__.partition('+')[0]}+emulated"
