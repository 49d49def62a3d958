from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.conftest import CHROMIUM
from tests.report.sample_page import sample_page
from tests.report.small_tables import page_of, parts, sizes
from trainwright.core.errors import OutputError
from trainwright.core.result import Evidence, Finding, Quality, Result, Where
from trainwright.report.renderer import RENDERERS, Page

HTML = RENDERERS["html"]
EVIL = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x00\u202e\ud800"


class _Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


def _script(text: str) -> str:
    return text.rsplit("<script>", 1)[1].rsplit("</script>", 1)[0]


def test_the_page_refers_to_nothing_outside() -> None:
    text = HTML.render(sample_page())
    elements = _Elements(text)

    assert not re.search(r"https?:|//[a-z]|@import", text.replace("// ", ""))
    assert not elements.of("link", "img", "iframe", "object", "embed", "form", "base")
    assert all((attributes["href"] or "").startswith("#") for attributes in elements.of("a"))
    assert set(re.findall(r"url\((.)", text)) == {"#"}


def test_the_policy_allows_the_one_script_and_nothing_else() -> None:
    text = HTML.render(sample_page())
    digest = base64.b64encode(hashlib.sha256(_script(text).encode()).digest()).decode()

    (policy,) = [meta["content"] for meta in _Elements(text).of("meta") if "http-equiv" in meta]
    assert policy is not None
    assert policy.split("; ")[:2] == ["default-src 'none'", f"script-src 'sha256-{digest}'"]
    assert len(_Elements(text).of("script")) == 1


def test_names_from_traces_stay_text_everywhere() -> None:
    finding = Finding(
        code=EVIL, severity="error", title=EVIL, detail=EVIL, advice=EVIL, where=Where(op=EVIL, file=EVIL),
        evidence=Evidence(table="sizes", rows=((EVIL, EVIL),)),
    )  # fmt: skip
    result = Result(
        tables=(sizes([(EVIL, 1), ("x", 2)]), parts((EVIL, EVIL, 1, EVIL), (1, "x", 1, 1))),
        findings=(finding,),
        quality=(Quality(code=EVIL, count=1, example=EVIL, file=EVIL),),
    )
    text = HTML.render(Page(command=EVIL, title=EVIL, subtitle=EVIL, result=result, next_steps=(EVIL,)))
    elements = _Elements(text)

    assert len(elements.of("script")) == 1
    assert elements.of("img") == []
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert "\x00" not in text
    assert "\u202e" not in text
    text.encode("utf-8")


def test_tables_are_readable_without_sight_or_script() -> None:
    elements = _Elements(HTML.render(sample_page()))

    assert all(attributes["scope"] == "col" and attributes["title"] for attributes in elements.of("th"))
    assert all(attributes["aria-label"] for attributes in elements.of("input", "nav"))
    assert all(attributes["aria-label"] for attributes in elements.of("svg") if attributes.get("role") == "img")
    targets = {attributes["href"] for attributes in elements.of("a")}
    assert {f"#{attributes['id']}" for attributes in elements.of("section") if "id" in attributes} == targets


def test_a_small_run_makes_a_small_page() -> None:
    assert len(HTML.render(sample_page()).encode()) < 300_000


def test_a_large_table_makes_a_bounded_page() -> None:
    text = HTML.render(page_of(parts(*((rank, f"kernel {rank}", rank, 1) for rank in range(10_000))), top=10))

    assert len(text.encode()) < 300_000
    assert "8,000 more rows are not on this page" in text
    assert "the first 64 of 10,000 rows" in text


def test_an_empty_result_is_a_page_too() -> None:
    text = HTML.render(page_of(sizes([])))

    assert "Tables without rows: Sizes (sizes)." in text
    assert not _Elements(text).of("table")


def test_equal_results_give_equal_text() -> None:
    assert HTML.render(sample_page()) == HTML.render(sample_page())


def test_writing_respects_what_exists(tmp_path: Path) -> None:
    (path,) = HTML.write(sample_page(), tmp_path / "page.html")
    with pytest.raises(OutputError, match="--force"):
        HTML.write(sample_page(), path)

    assert path.read_text(encoding="utf-8") == HTML.render(sample_page())


def _opened(text: str, folder: Path) -> str:
    """The document as Chromium leaves it after running its scripts, offline; fails on any message of the console."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'browser'}", path.as_uri(),
    ]  # fmt: skip
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in answer.stderr, answer.stderr
    return answer.stdout


def _with_script(text: str, script: str) -> str:
    """The page with one more script at its end, allowed by its hash: the policy itself stays in force."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return text.replace("script-src ", f"script-src 'sha256-{digest}' ").replace(
        "</body>", f"<script>{script}</script></body>"
    )


_CLICKS = """
const box = document.querySelector("#table-sizes"), said = [];
const seen = () => said.push([...box.querySelectorAll("tbody tr:not([hidden]) td:first-child")]
  .map((cell) => cell.textContent).join("") + " " + box.querySelector("output").textContent);
const head = (at) => box.querySelectorAll("th button")[at].click();
seen(); head(1); seen(); head(1); seen(); head(0); seen();
box.querySelector(".more").click(); seen();
const filter = box.querySelector("input");
filter.value = "b Z 10"; filter.dispatchEvent(new Event("input")); seen();
filter.value = ""; filter.dispatchEvent(new Event("input")); seen();
box.querySelector(".more").click(); seen();
said.push([...box.querySelectorAll("th")].map((cell) => cell.getAttribute("aria-sort")).join(""));
const cell = box.querySelector("td"); cell.click(); said.push(cell.className);
document.title = said.join("|");
"""


@pytest.mark.browser
def test_the_page_runs_and_sorts_exactly(tmp_path: Path) -> None:
    # The two largest differ by one byte, which a float64 cannot tell: only exact sorting puts z first.
    big = 2**60
    table = sizes([("b", 9), ("z", big + 1), ("a", big), ("c", None), ("B z", 10)])
    dom = _opened(_with_script(HTML.render(page_of(table, top=3)), _CLICKS), tmp_path)

    title = re.search(r"<title>(.*?)</title>", dom)
    assert title is not None
    assert title[1].split("|") == [
        "bza 3 of 5 rows",
        "zaB z 3 of 5 rows",  # sizes, largest first
        "bB za 3 of 5 rows",  # smallest first, missing last
        "abB z 3 of 5 rows",  # names
        "abB zcz 5 of 5 rows",  # all rows
        "B z 1 of 1 matching rows",
        "abB zcz 5 of 5 rows",
        "abB z 3 of 5 rows",
        "ascending",
        "open",
    ]


@pytest.mark.browser
def test_a_hostile_page_runs_none_of_its_names(tmp_path: Path) -> None:
    code = "document.title='owned'"
    evil = f'<img src=x onerror="{code}"><script>{code}</script>'
    finding = Finding(code="c", severity="info", title=evil, where=Where(op=evil))
    page = Page(command="x", title="Safe", result=Result(tables=(sizes([(evil, 1)]),), findings=(finding,)))

    assert "<title>Safe</title>" in _opened(HTML.render(page), tmp_path)


@pytest.mark.browser
def test_the_whole_sample_page_opens_without_a_message(tmp_path: Path) -> None:
    assert "Where the time goes" in _opened(HTML.render(sample_page()), tmp_path)


def test_a_finding_shows_the_lines_before_and_after_and_the_figures_head_the_page() -> None:
    finding = Finding(code="c", severity="info", title="t", safety="unsafe", before=EVIL, after="new", source="a table")
    figures = {"auto_share": 0.5, "files": 2, "lines": 3000, "blocked": 1, "manual": 2, "minutes": 90, "edits_safe": 4}
    text = HTML.render(
        Page(command="migrate", title="t", result=Result(findings=(finding,), extra={"summary": figures}))
    )

    assert '<pre class="after" aria-label="after (held back unless you ask for it)">new</pre>' in text
    assert [pre["class"] for pre in _Elements(text).of("pre")] == ["before", "after"]
    assert not _Elements(text).of("img")
    assert "evidence: a table" in text
    assert text.index("50.0 %") < text.index("3,000") < text.index("Findings")
