"""``torch_npu.contrib``: its ``transfer_to_npu``; the rest is not emulated."""
