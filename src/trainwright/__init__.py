"""Trainwright: take a large-model training job to an Ascend NPU cluster, correct and fast."""

__version__ = "0.1.0"
