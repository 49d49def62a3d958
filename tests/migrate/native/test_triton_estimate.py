"""The bytes of a block and the blocks of a grid, against numbers worked out by hand."""

from __future__ import annotations

import ast

import pytest

from trainwright.migrate.native.triton_estimate import BlockEstimate, GridEstimate, block_estimate, grid_estimates
from trainwright.migrate.options import Options
from trainwright.migrate.project import Project
from trainwright.migrate.python.module import PythonFile
from trainwright.migrate.source import python_source

HEAD = "import torch, triton\nimport triton.language as tl\n"


def read(code: str) -> tuple[PythonFile, ast.FunctionDef]:
    source = python_source("k.py", (HEAD + code).encode())
    tree = ast.parse(source.text)
    file = PythonFile(source=source, tree=tree, project=Project(), options=Options())
    kernel = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "k")
    return file, kernel


def block(body: str, parameters: str = "p, B: tl.constexpr = 64", before: str = "", after: str = "") -> BlockEstimate:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return block_estimate(*read(f"{before}@triton.jit\ndef k({parameters}):\n{lines}{after}"))


CASES = [
    ("pass", 0),
    ("i = tl.program_id(0)\nx = tl.load(p + i)", 0),
    ("x = tl.load(p + tl.arange(0, B))", 64 * 4),
    ("o = tl.arange(0, B)\nx = tl.load(p + o, mask=o < 10)\ny = tl.load(p + o)", 2 * 64 * 4),
    ("x = tl.load(p + tl.arange(0, B)[:, None] * 8 + tl.arange(0, 16)[None, :])", 64 * 16 * 4),
    ("x = tl.zeros((B, 32), dtype=tl.float16)", 64 * 32 * 2),
    ("x = tl.zeros([B], tl.float64)", 64 * 8),
    ("x = tl.full((B,), 1.0, tl.bfloat16)", 64 * 2),
    ("x = tl.zeros((B, 2), dtype=tl.float32)\ny = tl.zeros_like(x)", 2 * 64 * 2 * 4),
    ("q = tl.make_block_ptr(p, (9, 9), (1, 1), (0, 0), (B, 32), (1, 0))\nx = tl.load(q)", 64 * 32 * 4),
    ("d = tl.make_tensor_descriptor(p, shape=[9], strides=[1], block_shape=[B])\nx = d.load([0])", 64 * 4),
    # The product is added to the accumulator that is counted already.
    ("acc = tl.zeros((B, 32), tl.float32)\nacc += tl.dot(acc, tl.trans(acc))", 64 * 32 * 4),
    ("a = tl.zeros((B, 32), tl.float16)\nc = tl.dot(a, a.T)", 64 * 32 * 2 + 64 * 64 * 4),
    ("a = tl.zeros((B, 8), tl.float16)\nc = tl.dot(a, a.T, tl.zeros((B, B), tl.float32))", 64 * 8 * 2 + 64 * 64 * 4),
    ("x = tl.zeros((B, 32), tl.float32)\ny = tl.load(p + tl.sum(x, axis=1))", 64 * 32 * 4 + 64 * 4),
    ("for i in range(0, 10):\n    x = tl.load(p + tl.arange(0, B))", 64 * 4),
    ("if B > 10:\n    x = tl.load(p + tl.arange(0, B))\nelse:\n    x = tl.zeros((B, B), tl.float32)", 64 * 4),
    ("x = tl.load(p + tl.arange(0, tl.cdiv(B, 3)))", 22 * 4),
    ("H: tl.constexpr = B // 2\nx = tl.zeros((H, B * 2), tl.int8)", 32 * 128),
    ("x = tl.load(p + tl.expand_dims(tl.arange(0, B), 0) + tl.arange(0, 4)[:, None])", 64 * 4 * 4),
    ("x = tl.reshape(tl.load(p + tl.arange(0, B)), (8, 8))\ny = tl.load(p + x)", 2 * 64 * 4),
]


@pytest.mark.parametrize(("body", "size"), CASES)
def test_the_bytes_of_a_block(body: str, size: int) -> None:
    assert block(body).size_bytes == size


BODY = "x = tl.load(p + tl.arange(0, B))"
CONFIGS = [
    ("", "@triton.autotune(configs=[triton.Config({'B': 32}), triton.Config({'B': 256})], key=[])\n", 256),
    ("", "@triton.autotune([triton.Config({'B': b}, num_warps=w) for b in (16, 512) for w in [4, 8]], key=[])\n", 512),
    ("C = [triton.Config(kwargs={'B': 8})]\n", "@triton.autotune(C, key=[])\n", None),
    ("C = [triton.Config({'B': 2 ** 5})]\n", "@triton.autotune(configs=C, key=[])\n", 32),
    ("def configs():\n    return [triton.Config({'B': 128})]\n", "@triton.autotune(configs(), key=[])\n", 128),
    ("def more(c):\n    return c\n", "@triton.autotune(configs=more([triton.Config({'B': 64})]), key=[])\n", 64),
]


@pytest.mark.parametrize(("before", "decorator", "elements"), CONFIGS)
def test_the_largest_configuration_counts(before: str, decorator: str, elements: int | None) -> None:
    found = block(BODY, "p, B: tl.constexpr", before + decorator)
    assert found.size_bytes == (elements or 0) * 4
    assert found.setting == ({"B": elements} if elements else {})


def test_values_come_from_launches_by_name_and_by_place() -> None:
    assert block(BODY, "p, B: tl.constexpr", after="k[(1,)](x, B=1024)\n").size_bytes == 4096
    assert block(BODY, "p, B: tl.constexpr", after="N = 256\nk[(1,)](x, N)\nk[(1,)](x, 128)\n").size_bytes == 1024


def test_what_is_not_known_is_named() -> None:
    found = block(
        "x = tl.load(p + tl.arange(0, B))\ny = tl.zeros((8, D), tl.float32)", "p, B: tl.constexpr, D: tl.constexpr"
    )
    assert (found.size_bytes, found.unknown) == (0, ("B", "D"))


def test_types_that_are_not_known_are_said_to_be_assumed() -> None:
    assert block(BODY).assumed
    assert not block("x = tl.zeros((B,), tl.float32)").assumed


def test_too_large_a_block() -> None:
    assert not block("x = tl.zeros((192, 256), tl.float32)").overflows  # 196,608 bytes: fits exactly
    assert block("x = tl.zeros((193, 256), tl.float32)").overflows


def grids(after: str) -> list[GridEstimate]:
    return grid_estimates(*read(f"@triton.jit\ndef k(p, B: tl.constexpr):\n    pass\n{after}"))


GRIDS = [
    ("k[(32,)](x, B=1)", "(32,)", 32),
    ("k[256, 512](x)", "(256, 512)", 131072),
    ("G = (4, 2)\nk[G](x)", "(4, 2)", 8),
    ("k[(triton.cdiv(1000, 8),)](x)", "(triton.cdiv(1000, 8),)", 125),
    ("k[lambda meta: (triton.cdiv(n, meta['B']),)](x)", "(triton.cdiv(n, meta['B']),)", None),
    ("def grid(meta):\n    return (n, 2)\nk[grid](x)", "(n, 2)", None),
    ("k[(n, 70000)](x)", "(n, 70000)", 70000),
]


@pytest.mark.parametrize(("after", "text", "blocks"), GRIDS)
def test_the_blocks_of_a_grid(after: str, text: str, blocks: int | None) -> None:
    (grid,) = grids(after + "\n")
    assert (grid.text, grid.blocks) == (text, blocks)
    assert grid.overflows == (blocks is not None and blocks > 65535)
