"""The catalogue lists every leaf, and the page in docs is the one it makes."""

from __future__ import annotations

from pathlib import Path

from trainwright.cli.catalog import REGISTRIES, catalog_markdown, catalog_table

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_every_leaf_is_listed_once_with_a_sentence() -> None:
    rows = catalog_table().records()
    assert len(rows) == sum(len(registry.leaves) for registry in REGISTRIES)
    assert len({(row["kind"], row["code"]) for row in rows}) == len(rows)
    assert all(str(row["summary"]).strip() for row in rows)


def test_the_page_in_docs_is_up_to_date() -> None:
    assert (DOCS / "catalog.md").read_text(encoding="utf-8") == catalog_markdown(), "run `make catalog`"


def test_every_command_has_a_page() -> None:
    commands = [row["code"] for row in catalog_table().records() if row["kind"] == "command"]
    assert not [code for code in commands if not (DOCS / f"{code}.md").exists()]
