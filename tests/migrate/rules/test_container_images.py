"""container-images: images made for CUDA and containers that ask for GPUs."""

from __future__ import annotations

import pytest

from tests.migrate.text.check import outcomes, scanned
from trainwright.migrate.rules.container_images import RULE

NUMBER = RULE.number
UNTOUCHED = [
    ("Dockerfile", "FROM ubuntu:22.04\n# FROM nvidia/cuda:12\nLABEL x=nvidia/cuda\n"),
    ("Dockerfile", "FROM quay.io/ascend/cann:8.3.rc1-910b-ubuntu22.04-py3.11\n"),
    ("compose.yml", "services:\n  a:\n    image: redis:7 # no cuda\n"),
    ("a.sh", "docker run -v /data/cuda:/data ubuntu\n"),
    ("a.sh", "docker push host/a:cu121\n"),
    ("a.yaml", "driver: nvidia\nname: cuda\n"),
]


@pytest.mark.parametrize(("path", "text"), UNTOUCHED)
def test_other_images_are_fine(path: str, text: str) -> None:
    assert not scanned(path, text, number=NUMBER)


FOUND = [
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n", ["nvidia/cuda:12.4.1-devel-ubuntu22.04"]),
    (
        "Dockerfile",
        "FROM --platform=linux/amd64 nvcr.io/nvidia/pytorch:24.01-py3 AS a\n",
        ["nvcr.io/nvidia/pytorch:24.01-py3"],
    ),
    (
        "gpu.dockerfile",
        "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\n",
        ["pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"],
    ),
    (".gitlab-ci.yml", "image: nvidia/cuda:12.4.1-base\na:\n  script: [x]\n", ["nvidia/cuda:12.4.1-base"]),
    (".github/workflows/a.yml", "jobs:\n  a:\n    container:\n      image: host/a:cu121\n", ["host/a:cu121"]),
    ("compose.yml", "services:\n  a:\n    runtime: nvidia\n", ["runtime: nvidia"]),
    (
        "compose.yml",
        "services:\n  a:\n    deploy:\n      resources:\n        reservations: {devices: [{driver: nvidia}]}\n",
        ["driver: nvidia"],
    ),
    ("pod.yaml", "resources:\n  limits:\n    nvidia.com/gpu: 1\n", ["resource nvidia.com/gpu"]),
    ("a.sh", "docker run --rm --gpus all nvidia/cuda:12 nvidia-smi\n", ["--gpus", "nvidia/cuda:12"]),
    ("a.sh", "docker run --runtime=nvidia x\n", ["--runtime"]),
    ("a.sh", "singularity exec --nv a.sif python a.py\n", ["--nv"]),
    (
        "devcontainer.json",
        '{"image": "nvidia/cuda:12", // x\n "runArgs": ["--gpus", "all"]}',
        ["nvidia/cuda:12", "--gpus"],
    ),
]


@pytest.mark.parametrize(("path", "text", "names"), FOUND)
def test_cuda_images_and_gpus_are_found(path: str, text: str, names: list[str]) -> None:
    assert outcomes(path, text, NUMBER) == [("manual", name) for name in names]


def test_the_advice_names_images_and_devices() -> None:
    (image,) = scanned("Dockerfile", "FROM nvidia/cuda:12\n", number=NUMBER)
    assert "quay.io/ascend/cann" in image.advice
    (gpus,) = scanned("a.sh", "docker run --gpus all a\n", number=NUMBER)
    assert "/dev/davinci_manager" in gpus.advice
