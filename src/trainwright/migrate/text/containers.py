"""Container images made for CUDA, and options that give a container NVIDIA GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainwright.migrate.document import Document
from trainwright.migrate.remark import Remark
from trainwright.migrate.text.content import Command, Image, Setting, TextContent

NUMBER = "TW703"
_RUNNERS = frozenset({"docker", "podman", "nerdctl"})
_CUDA_IMAGE = re.compile(
    r"(?:^|/)nvidia/|^nvcr\.io/|(?:^|[-_:/.])(?:cu(?:da)?-?1[0-9](?:[.\d]|$)|cuda|cudnn\d*|tensorrt)(?:[-_:./\d]|$)|"
    r"^(?:docker\.io/)?pytorch/(?:pytorch|manylinux-cuda)"
)
_RESOURCES = frozenset({"limits", "requests", "resources", "nodeSelector"})
_IMAGES = (
    "Build upon an image with CANN, such as quay.io/ascend/cann or ascendai/cann (the tag names CANN version, chip, "
    "system and Python), and install torch and torch-npu in it."
)
_DEVICES = (
    "Give the container the NPUs: --device /dev/davinci0 and so on, --device /dev/davinci_manager, "
    "--device /dev/devmm_svm, --device /dev/hisi_hdc, and the driver (-v /usr/local/Ascend/driver); or install "
    "Ascend Docker Runtime and set ASCEND_VISIBLE_DEVICES."
)
_COMPOSE = (
    "Replace it by devices: /dev/davinci0 and so on, /dev/davinci_manager, /dev/devmm_svm, /dev/hisi_hdc, and mount "
    "/usr/local/Ascend/driver; or use Ascend Docker Runtime with ASCEND_VISIBLE_DEVICES."
)
_MOUNTS = (
    "Leave it out and bind what the NPU needs instead: /dev/davinci0 and so on, /dev/davinci_manager, "
    "/dev/devmm_svm, /dev/hisi_hdc, and /usr/local/Ascend/driver."
)
_CLUSTER = "Ask for huawei.com/Ascend910, which the Ascend device plugin offers; the name follows the chip."
_IMAGE_EVIDENCE = "public Dockerfiles built upon quay.io/ascend/cann and ascendai/cann"
_DEVICE_EVIDENCE = "Ascend Docker Runtime; run instructions of the CANN images"
_PLUGIN_EVIDENCE = "Ascend device plugin for Kubernetes"


def container_remarks(document: Document) -> Iterator[Remark]:
    """Images and options of a document, in order of their kinds."""
    content: TextContent = document.content
    for image in content.images:
        if _CUDA_IMAGE.search(image.name):
            yield _image(image)
    for command in content.commands:
        if command.name in _RUNNERS:
            yield from _run(command)
        elif command.name in ("singularity", "apptainer"):
            yield from (
                _option(word.start, word.end, word.text, _MOUNTS) for word in command.words if word.text == "--nv"
            )
    for setting in content.settings:
        yield from _setting(setting)


def _image(image: Image) -> Remark:
    return Remark(
        number=NUMBER,
        start=image.start,
        end=image.end,
        title=f"container image {image.name}",
        detail="It brings CUDA and a PyTorch built for it.",
        advice=_IMAGES,
        outcome="manual",
        minutes=60,
        evidence=_IMAGE_EVIDENCE,
        name=image.name,
    )


def _run(command: Command) -> Iterator[Remark]:
    runs = bool({"run", "create"} & {word.text for word in command.words[1:3]}) and command.words[1].text != "manifest"
    for position, word in enumerate(command.words):
        name, _, value = word.text.partition("=")
        following = command.words[position + 1].text if position + 1 < len(command.words) else ""
        if name == "--gpus" or (name == "--runtime" and (value or following) == "nvidia"):
            yield _option(word.start, word.end, name, _DEVICES)
        elif runs and position > 1 and not word.text.startswith("-") and _is_image(word.text):
            yield _image(Image(name=word.text, start=word.start, end=word.end))
            return


def _is_image(text: str) -> bool:
    """An image, not a folder that is mounted or a file."""
    return "/" in text and not text.startswith(("/", ".", "$")) and bool(_CUDA_IMAGE.search(text)) and "=" not in text


def _setting(setting: Setting) -> Iterator[Remark]:
    path = setting.path
    if setting.key == "runtime" and setting.value == "nvidia":
        yield _option(setting.start, setting.end, "runtime: nvidia", _COMPOSE)
    elif setting.key == "driver" and setting.value == "nvidia" and "devices" in path:
        yield _option(setting.start, setting.end, "driver: nvidia", _COMPOSE)
    elif setting.key.startswith("nvidia.com/") and _RESOURCES & set(path):
        yield _option(setting.start, setting.end, f"resource {setting.key}", _CLUSTER, _PLUGIN_EVIDENCE)
    elif setting.value == "--gpus" or setting.value.startswith("--gpus="):
        yield _option(setting.start, setting.end, "--gpus", _DEVICES)


def _option(start: int, end: int, name: str, advice: str, evidence: str = _DEVICE_EVIDENCE) -> Remark:
    return Remark(
        number=NUMBER,
        start=start,
        end=end,
        title=f"{name} gives the container NVIDIA GPUs",
        advice=advice,
        outcome="manual",
        minutes=20,
        evidence=evidence,
        name=name,
    )
