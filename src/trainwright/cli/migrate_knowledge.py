"""What the rules and the support tables know: ``trainwright migrate explain`` and ``trainwright migrate api``."""

from __future__ import annotations

import argparse
import json
import sys

from trainwright.cli.migrate_settings import check_torch
from trainwright.core.result import Column, Result, TableSpec
from trainwright.knowledge.apis import ApiSupport, api, closest
from trainwright.migrate.options import Options
from trainwright.migrate.rule import Rule, rule_for
from trainwright.migrate.selection import no_such_rule, select_rules
from trainwright.report.contract import answer
from trainwright.report.wording import printable

RULE = TableSpec(
    name="rules",
    title="Rule",
    help="What a finding means.",
    columns=(
        Column(name="number", unit="text", help="by which it is selected, ignored and looked up"),
        Column(name="code", unit="text", help="name"),
        Column(name="summary", unit="text", help="what it finds"),
        Column(name="why", unit="text", help="what goes wrong without a change"),
        Column(name="before", unit="text", help="an example"),
        Column(name="after", unit="text", help="the example after the change; empty when nothing can be written"),
        Column(name="safety", unit="text", help="of its edits at best"),
    ),
)
SUPPORT = TableSpec(
    name="support",
    title="Support by torch version",
    help="yes, no, or the chips that support it.",
    columns=(
        Column(name="torch", unit="text", help="version of PyTorch"),
        Column(name="support", unit="text", help="yes, no, or chips"),
    ),
)
_SAFETIES = {
    "safe": "safe: applied unless you say no",
    "unsafe": "unsafe: applied with --unsafe",
    "display": "no edit: it is reported",
}
_SAID = {
    "supported": "supported",
    "renamed": "supported under another name",
    "limited": "supported with limits",
    "cpu_fallback": "runs on the CPU: the data is copied there and back",
    "unsupported": "not supported",
    "unlisted": "not listed in the support tables, which says neither yes nor no",
}


def explain(options: argparse.Namespace) -> int:
    """Say what a rule finds, why it matters, and show an example."""
    rule = rule_for(options.subject)
    if rule is None:
        raise no_such_rule(options.subject, select_rules((), ()).numbers)
    if options.json:
        row = (rule.number, rule.code, rule.summary, rule.why, rule.before, rule.after, rule.safety)
        _print_json(Result(tables=(RULE.table([row]),)))
    else:
        print(_explanation(rule))
    return 0


def _explanation(rule: Rule) -> str:
    parts = [f"{rule.number} {rule.code}", "", rule.summary, "", rule.why, "", "Before", _indented(rule.before)]
    parts += ["", "After", _indented(rule.after)] if rule.after else ["", "There is nothing to write instead."]
    return "\n".join([*parts, "", f"Edits: {_SAFETIES[rule.safety]}."])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def show_api(options: argparse.Namespace) -> int:
    """Say what the NPU makes of an API; 1 when it does not support it."""
    defaults = Options()
    torch, soc = check_torch(options.torch or defaults.torch), options.soc or defaults.soc
    name = options.subject.strip()
    support = api(name, torch=torch, soc=soc)
    if options.json:
        record = {
            "name": support.name, "status": support.status, "torch": torch, "soc": soc, "npu_name": support.npu_name,
            "dtypes": support.dtypes, "other_limit": support.other_limit, "kernel": support.kernel,
            "doubt": support.doubt, "evidence": support.evidence,
        }  # fmt: skip
        _print_json(Result(tables=(SUPPORT.table(support.versions.items()),), extra={"api": record}))
    else:
        print(printable(_api_text(name, support, torch, soc), keep="\n"))
    return int(support.status == "unsupported")


def _api_text(name: str, support: ApiSupport, torch: str, soc: str) -> str:
    listed = f" (listed as {support.name})" if support.name != name else ""
    lines = [f"{name}{listed}: {_SAID[support.status]}, torch {torch} on {soc}"]
    if support.npu_name:
        lines.append(f"  on the NPU: {support.npu_name}")
    if support.dtypes:
        lines.append(f"  data types: {', '.join(support.dtypes)}")
    if support.other_limit:
        lines.append("  the documentation of torch_npu states further limits")
    if support.kernel:
        lines.append(f"  registered kernel: {support.kernel}")
    lines += [f"  torch {version}: {cell}" for version, cell in support.versions.items()]
    if support.doubt:
        lines.append(f"  but: {support.doubt}")
    if support.evidence:
        lines.append(f"  evidence: {support.evidence}")
    if support.status == "unlisted" and (near := closest(name)):
        lines.append(f"  did you mean {', '.join(near)}?")
    return "\n".join(lines)


def _print_json(result: Result) -> None:
    sys.stdout.write(json.dumps(answer("migrate", result), allow_nan=False) + "\n")
