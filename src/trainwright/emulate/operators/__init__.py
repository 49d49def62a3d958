"""The fused operators of torch_npu, one family a file, in plain torch. Contract: `trainwright.emulate.operator`."""
