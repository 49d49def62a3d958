"""What the support table says, for a torch version and a chip."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trainwright.knowledge.apis import api, canonical, closest

STATUS = [
    ("torch.abs", "2.8", "A2", "limited"),
    ("torch.poisson", "2.8", "A2", "unsupported"),
    ("torch.cuda.CUDAGraph", "2.8", "A2", "renamed"),
    ("torch.distributions.Dirichlet", "2.8", "A2", "cpu_fallback"),
    ("torch.rand", "2.8", "A2", "supported"),
    ("torch.distributed.destroy_process_group", "2.8", "A2", "unlisted"),
    ("torch.no_such_thing", "2.8", "A2", "unlisted"),
    ("torch.linalg.lstsq", "2.6", "A2", "unsupported"),
    ("torch.linalg.lstsq", "2.8", "A2", "cpu_fallback"),
    ("torch.nn.Hardsigmoid", "2.9", "950DT", "unlisted"),
    ("torch.nn.Hardsigmoid", "2.9", "A3", "cpu_fallback"),
]


@pytest.mark.parametrize(("name", "torch", "soc", "status"), STATUS)
def test_the_status_depends_on_version_and_chip(name: str, torch: str, soc: str, status: str) -> None:
    assert api(name, torch=torch, soc=soc).status == status


ALIASES = [
    ("torch.nn.Parameter", "torch.nn.parameter.Parameter"),
    ("torch.amp.autocast", "torch.autocast"),
    ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
    ("torch.distributions.Dirichlet", "torch.distributions.dirichlet.Dirichlet"),
    ("torch.abs", "torch.abs"),
    ("torch.no_such_thing", "torch.no_such_thing"),
]


@pytest.mark.parametrize(("name", "listed"), ALIASES)
def test_a_name_is_looked_up_as_the_table_lists_it(name: str, listed: str) -> None:
    assert canonical(name) == listed


DOUBTS = [
    ("torch.poisson", ""),
    ("torch.sparse_csr_tensor", ""),
    ("torch.backends.cuda.sdp_kernel", ""),
    ("torch.nn.GRU", "the API support table of torch 2.13 lists it as supported"),
    ("torch.nn.AvgPool3d", "torch_npu registers a kernel of this name"),
    ("torch.heaviside", "torch.Tensor.heaviside is listed as supported"),
    ("torch.func.vmap", "it runs on the host and works with the tensors it is given"),
    (
        "torch.nn.functional.gumbel_softmax",
        "it has no kernel of its own: it runs where the operators it is made of run",
    ),
]


@pytest.mark.parametrize(("name", "doubt"), DOUBTS)
def test_what_speaks_against_a_no_is_told(name: str, doubt: str) -> None:
    found = api(name, torch="2.8", soc="A2")
    assert (found.status, found.doubt) == ("unsupported", doubt)


def test_a_chip_that_is_left_out_is_not_listed_in_versions_that_tell_no_chips_either() -> None:
    found = api("torch.nn.Hardsigmoid", torch="2.8", soc="950DT")
    assert (found.status, found.versions["2.8"], found.versions["2.9"]) == ("unlisted", "yes", "A2, A3")


def test_versions_are_told_one_by_one() -> None:
    versions = api("torch.linalg.lstsq", torch="2.8", soc="A2").versions
    assert versions == {"2.6": "no", "2.7": "A2, A3", "2.8": "yes", "2.9": "A2, A3", "2.10": "A2, A3", "2.13": "A2, A3"}


@pytest.mark.parametrize(
    ("torch", "version"), [("2.11", "2.10"), ("2.8.0+cpu", "2.8"), ("2.1", "2.6"), ("3.0", "2.13")]
)
def test_a_version_without_a_table_is_judged_by_the_one_before(torch: str, version: str) -> None:
    assert api("torch.abs", torch=torch, soc="A2").evidence == f"torch_npu {version} API support table"


def test_data_types_and_the_npu_name() -> None:
    assert api("torch.arange", torch="2.8", soc="A2").dtypes == ("bf16", "fp16", "fp32", "fp64", "int32", "int64")
    assert api("torch.cuda.CUDAGraph", torch="2.8", soc="A2").npu_name == "torch.npu.NPUGraph"
    assert api("torch.autocast", torch="2.8", soc="A2").npu_name == ""


NEAR = [
    ("torch.nn.MultiHeadAttention", "torch.nn.MultiheadAttention"),
    ("torch.cuda.memory_alocated", "torch.cuda.memory_allocated"),
    ("torch.nn.linear", "torch.nn.Linear"),
]


@pytest.mark.parametrize(("asked", "meant"), NEAR)
def test_a_misspelled_name_finds_what_was_meant(asked: str, meant: str) -> None:
    assert closest(asked)[0] == meant


def test_nothing_is_close_to_nonsense() -> None:
    assert closest("qqqqqqqqqqqq") == []


def test_the_first_look_up_is_quick() -> None:
    program = (
        "import time; from trainwright.knowledge.apis import api; start = time.process_time();"
        "api('torch.nn.Parameter', torch='2.8', soc='A2'); print(time.process_time() - start)"
    )
    took = min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(3))
    assert took < 0.05, f"the tables took {took:.3f} s of CPU"
