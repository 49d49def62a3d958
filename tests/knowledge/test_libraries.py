"""The table of third-party libraries."""

from __future__ import annotations

from typing import get_args

import pytest

from trainwright.knowledge.libraries import (
    LibraryKind,
    LibraryStatus,
    distribution,
    libraries,
    library,
    normal_name,
    roots,
)

IMPORTS = [
    ("flash_attn", "flash-attn"),
    ("flash_attn.bert_padding.unpad_input", "flash-attn"),
    ("numba.cuda.jit", "numba-cuda"),
    ("nvidia.dali.pipeline_def", "dali"),
    ("nvidia", "nvidia libraries"),
    ("torchvision.ops.nms", "torchvision.ops"),
    ("torchvision.datasets", "torchvision"),
    ("MultiScaleDeformableAttention", "deformable attention"),
]


@pytest.mark.parametrize("dotted", ["", "numba", "numpy", "torch", "my_flash_attn", "flash_attn_2"])
def test_what_is_no_library_of_the_table(dotted: str) -> None:
    assert library(dotted) is None


@pytest.mark.parametrize(("dotted", "name"), IMPORTS)
def test_a_library_is_found_by_what_is_imported(dotted: str, name: str) -> None:
    found = library(dotted)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("spelled", ["flash-attn", "Flash_Attn", "flash.attn", "FLASH--ATTN"])
def test_a_library_is_found_by_what_is_installed(spelled: str) -> None:
    found = distribution(spelled)
    assert found is not None
    assert found.name == "flash-attn"
    assert distribution("numpy") is None


def test_the_table_is_whole() -> None:
    entries = libraries()
    assert len(entries) >= 70
    for entry in entries:
        assert entry.status in get_args(LibraryStatus), entry.name
        assert entry.kind in get_args(LibraryKind), entry.name
        assert entry.imports or entry.distributions, entry.name
        assert entry.advice, entry.name
        assert entry.evidence, entry.name
        assert not entry.advice.endswith("."), entry.name


def test_no_name_belongs_to_two_libraries() -> None:
    imported = [name for entry in libraries() for name in entry.imports]
    installed = [name for entry in libraries() for name in entry.distributions]
    assert len(imported) == len(set(imported))
    assert len(installed) == len(set(installed))


def test_roots_are_first_parts() -> None:
    assert "numba" in roots("gpu")
    assert "flash_attn" in roots("library")
    assert not any("." in root for root in (*roots("gpu"), *roots("library")))


def test_names_are_normalised_as_indexes_do() -> None:
    assert normal_name("Flash_Attn.x--y") == "flash-attn-x-y"
