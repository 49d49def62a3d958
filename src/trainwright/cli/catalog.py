"""The catalogue: every leaf with the sentence it declares about itself."""

from __future__ import annotations

from typing import Any

from trainwright.analyze.analysis import ANALYSES
from trainwright.cli.command import COMMANDS
from trainwright.core.executor import EXECUTORS
from trainwright.core.registry import Registry
from trainwright.core.result import Column, Table, TableSpec
from trainwright.migrate.language import LANGUAGES
from trainwright.migrate.rule import RULES
from trainwright.report.renderer import RENDERERS
from trainwright.trace.reader import READERS

REGISTRIES: tuple[Registry[Any], ...] = (
    COMMANDS, READERS, ANALYSES, RULES, LANGUAGES, RENDERERS, EXECUTORS,
)  # fmt: skip

LEAVES = TableSpec(
    name="leaves",
    title="Everything built in",
    help="One row per leaf.",
    columns=(
        Column(name="kind", unit="text", help="command, reader, analysis, rule, language, renderer or executor"),
        Column(name="code", unit="text", help="what it is called on the command line and in messages"),
        Column(name="name", unit="text", help="module that holds it"),
        Column(name="summary", unit="text", help="what it does"),
    ),
)


def catalog_table() -> Table:
    """All leaves of all registries."""
    return LEAVES.table(
        (registry.kind, leaf.code, f"{registry.package}.{leaf.code.replace('-', '_')}", leaf.summary)
        for registry in REGISTRIES
        for leaf in registry
    )


def _name(leaf: Any) -> str:
    """The code, with the number by which a rule is selected."""
    return f"`{leaf.number}` `{leaf.code}`" if hasattr(leaf, "number") else f"`{leaf.code}`"


def catalog_markdown() -> str:
    """The catalogue as a Markdown page; tables of analyses are listed with their columns."""
    lines = ["# Catalogue", "", "Made by `trainwright catalog --markdown`.", ""]
    for registry in REGISTRIES:
        lines += [f"## {registry.kind.capitalize()}", "", "| code | what it does |", "|---|---|"]
        lines += [f"| {_name(leaf)} | {leaf.summary} |" for leaf in registry]
        lines.append("")
    lines += ["## Tables of the analyses", ""]
    for analysis in sorted(ANALYSES, key=lambda leaf: leaf.order):
        for spec in analysis.tables:
            lines += [
                f"### `{spec.name}`",
                "",
                f"{spec.title}. {spec.help}",
                "",
                "| column | unit | meaning |",
                "|---|---|---|",
            ]
            lines += [
                f"| `{column.name}` | {column.unit} | {column.help.replace('|', '/')} |" for column in spec.columns
            ]
            lines.append("")
    return "\n".join(lines)
