"""The emulated NPU: a torch device called ``npu`` that computes on the CPU, to try a migrated program anywhere."""

from trainwright.emulate.installation import install as install
