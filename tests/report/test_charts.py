from __future__ import annotations

import re
from html import unescape

from tests.report.small_tables import parts, sizes
from trainwright.report.charts import figure, patterns

_RECT = re.compile(
    r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="14" fill="url\(#fill(\d)\)"><title>(.*?)</title>'
)


def _rects(svg: str) -> list[tuple[float, int, float, int, str]]:
    return [(float(x), int(y), float(w), int(at), unescape(text)) for x, y, w, at, text in _RECT.findall(svg)]


def test_segments_of_a_stacked_bar_lie_exactly_side_by_side() -> None:
    svg = figure(parts((0, "x", 6_000_000, 2_000_000), (1, "y", 10_000_000, 0)))

    # Labels "rank 0" of 6 characters: bars begin at 6 * 6.7 + 8 + 2 = 50.2 and have 960 - 50.2 - 84 = 825.8 pixels
    # for the 10 ms of the axis: 82.58 pixels a millisecond.
    assert _rects(svg) == [
        (50.2, 22, 495.48, 0, "rank 0: a 6.000 ms (75.0 %)"),
        (545.68, 22, 165.16, 1, "rank 0: b 2.000 ms (25.0 %)"),
        (50.2, 42, 825.8, 0, "rank 1: a 10.000 ms (100.0 %)"),
    ]
    assert 'viewBox="0 0 960 66"' in svg
    assert '<path class="grid" d="M876 16V66"/><text class="tick" x="876" y="12">10 ms</text>' in svg
    assert re.findall(r'class="value"[^>]*>([^<]*)', svg) == ["8.000 ms", "10.000 ms"]
    assert re.findall(r"</svg>([ab])</li>", svg) == ["a", "b"]


def test_bars_below_zero_end_at_zero() -> None:
    svg = figure(sizes([("up", 96), ("down", -32)]))

    # Step 16 from -32 to 96: 8 intervals. "down": 4 * 6.7 + 10 = 36.8; (960 - 36.8 - 84) / 128 = 6.55625 pixels a byte;
    # zero is at 36.8 + 32 * 6.55625 = 246.6.
    assert _rects(svg) == [(246.6, 22, 629.4, 0, "up: bytes 96 B"), (36.8, 42, 209.8, 6, "down: bytes -32 B")]


def test_many_rows_are_cut_and_the_chart_says_so() -> None:
    stacked = figure(parts(*((rank, "x", 1, 1) for rank in range(10_000))))
    bars = figure(sizes((f"op{at}", at) for at in range(10_000)))

    assert stacked.count('class="label"') == 64
    assert "the first 64 of 10,000 rows" in stacked
    assert bars.count('class="label"') == 20
    assert "the largest 20 of 10,000 rows" in bars
    assert _rects(bars)[0][4] == "op9999: bytes 9.76 KiB"


def test_zero_and_single_rows() -> None:
    assert figure(parts()) == ""
    assert len(_rects(figure(sizes([("only", 7)])))) == 1
    zero = figure(parts((0, "x", 0, 0)))
    assert _rects(zero) == []
    assert ">0 ns<" in zero


def test_long_and_hostile_labels_are_cut_and_escaped() -> None:
    svg = figure(sizes([("<script>\"'&" + "x" * 100, 1), ("b\x1b", 2)]))

    assert "<script>" not in svg
    assert "&lt;script&gt;&quot;&#x27;&amp;xxxxxxxxxxx…" in svg
    assert "b\\x1b" in svg
    assert f"{'x' * 100}</title></text>" in svg


def test_every_colour_of_a_chart_has_a_pattern_of_its_own() -> None:
    defined = re.findall(r'<pattern id="fill(\d)".*?</pattern>', patterns())
    tiles = re.findall(r"<pattern.*?</pattern>", patterns())

    assert defined == list("01234567")
    assert len({re.sub(r'fill\d|fill="#\w+"', "", tile) for tile in tiles}) == 8
