"""HTML as Markdown, by kinds of markup: which part is the page, and what becomes of elements that Markdown lacks."""

from __future__ import annotations

import sys

import pytest
from pegboard_tools_web.converting.html import markdown

URL = "https://docs.example/kettle/page.html"
HERE = "https://docs.example/kettle"
NAV = "<nav><ul>" + "".join(f"<li><a href='/{n}'>A section of the site {n}</a>" for n in range(40)) + "</ul></nav>"


def text_of(html: str) -> str:
    return markdown(html, URL)[1]


# --- which part is the page -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "there", "gone"),
    [
        (  # a review
            "<h1>Widget</h1><p>Price: $30.</p><article><p>Great widget, five stars, and I would buy it again.</article>",
            "# Widget\n\nPrice: $30.\n\nGreat widget",
            [],
        ),
        (  # a banner
            "<article class=banner><h2>We value you</h2><p>Accept cookies please</article><div><h1>Story</h1><p>Text.</div>",
            "# Story\n\nText.",
            [],
        ),
        (  # it holds the heading, though remarks are longer
            "<article><h1>Post</h1><p>What it says.</article><section><p>A remark. Another.</section>" + NAV,
            "# Post\n\nWhat it says.",
            ["remark", "section"],
        ),
        (  # by far most of the text; the site's name is no heading of the page
            f"<header><h1>Site</h1></header><article><h2>Post</h2><p>{'words of it ' * 20}</article><div>Log in</div>{NAV}",
            "## Post",
            ["Log in", "section"],
        ),
        (
            "<article><h1>A</h1><p>x</article><div><h1>B</h1><p>y</div>",
            "# B",
            [],
        ),  # both call themselves the page
    ],
)
def test_an_article_is_the_page_if_it_has_its_heading_or_most_of_its_text(
    html: str, there: str, gone: list[str]
) -> None:
    text = text_of(html)
    assert there in text
    assert not [word for word in gone if word in text]


@pytest.mark.parametrize("main", ["<main>{}</main>", "<div role=main>{}</div>"])
def test_main_that_has_text_is_the_page_however_short(main: str) -> None:
    short = main.format("<h1>Status</h1><p>All is well.</p>")
    assert text_of(f"<header><a href=/>Home</a></header>{NAV}{short}<footer>{'legal ' * 50}") == (
        "# Status\n\nAll is well."
    )
    assert text_of(main.format("") + "<h1>Real</h1><p>It is here.</p>") == "# Real\n\nIt is here."
    both = text_of(main.format("<h1>One</h1>") + "<div>no</div>" + main.format("<p>Two</p>"))
    assert both == "# One\n\nTwo"


def test_menus_and_footers_are_left_out_unless_nothing_else_remains() -> None:
    around = f"{NAV}<aside>Buy</aside><footer>{'legal ' * 50}</footer>"
    assert text_of(f"<header><a href=/>Home</a></header>{around}<h2>News</h2><p>x</p>") == "## News\n\nx"
    assert text_of(f"<header><h1>Kettle</h1><p>It pours.</p>{NAV}</header>{around}") == "# Kettle\n\nIt pours."
    assert text_of(f"<main>{NAV}</main><p>x</p>").startswith("- [A section of the site 0](https://docs.example/0)\n")
    assert "Buy" in text_of(around)
    kept = text_of("<article><header><h2>Title</h2><p>By Ada</header><p>x<aside><p>Note this.</aside></article>")
    assert kept == "## Title\n\nBy Ada\n\nx\n\nNote this."


# --- elements ---------------------------------------------------------------------------------------------------------

ELEMENTS = {
    "a power": ("10<sup>6</sup> and mc<sup>2</sup>, 10<sup>-6</sup> m", "10^6 and mc^2, 10^-6 m"),
    "an index": ("H<sub>2</sub>O, x<sub>i</sub>", "H_2O, x_i"),
    "more than a word": ("x<sup>n + 1</sup>, a<sub><i>i</i>,j</sub>", "x^(n + 1), a_(i,j)"),
    "one in another": ("2<sup>x<sup>2</sup></sup>", "2^(x^2)"),
    "one that runs into a number": ("2<sup>10</sup>24 x<sub>a</sub>b", "2^(10)24 x_(a)b"),
    "a power in code": ("<code>10<sup>6</sup></code>", "`10^6`"),
    "no powers": ("1<sup>st</sup> Kettle<sup>®</sup><sup> </sup>", "1st Kettle®"),
    "a footnote": ("so<sup><a href='#c'>[1]</a></sup>", f"so[[1]]({URL}#c)"),
    "a card": (
        "<a href=/c><h3>Head</h3><p>Teaser with <b>words</b>.</p></a>",
        "### [Head](https://docs.example/c)\n\nTeaser with **words**.",
    ),
    "a card without a heading": (
        "<a href=/c><div><div>Name</div><p>Teaser</p></div></a>",
        "[Name](https://docs.example/c)\n\nTeaser",
    ),
    "a card that begins with text": (
        "<a href=/c>A <b>name</b> <p>Teaser</p></a>",
        "[A **name**](https://docs.example/c)\n\nTeaser",
    ),
    "a card of a picture": (
        "<a href=/c><div><img src=/p.png alt=cup></div></a>",
        "[![cup](https://docs.example/p.png)](https://docs.example/c)",
    ),
    "a block in a link in a heading": ("<h2><a href=/c><div>Head</div></a></h2>", "## [Head](https://docs.example/c)"),
    "tasks": (
        "<ul><li><input type=checkbox checked disabled> done</li><li><label><input type=checkbox>to do</label></ul>",
        "- [x] done\n- [ ] to do",
    ),
    "a link around a picture": (
        "<p><a href=/build><img src=/b/badge.svg></a> <a href=/x aria-label='Our feed'><svg></svg></a> <a href=/e></a>",
        "[badge.svg](https://docs.example/build) [Our feed](https://docs.example/x)",
    ),
    "a film": (
        "<p>x<video controls><source src=/a/v.mp4>Your browser cannot.</video><audio src=s.ogg></audio><video></video>",
        f"x [video: v.mp4](https://docs.example/a/v.mp4) [audio: s.ogg]({HERE}/s.ogg)",
    ),
    "buttons": (
        "<p>Cup<button><span>Buy now</span></button><button>Later</button><input type=submit value=Order>"
        "<input type=text value=no>",
        "Cup Buy now Later Order",
    ),
    "a button that copies": (
        "<div><pre>a = 1<button>Copy</button></pre><button>Copy</button></div>",
        "```\na = 1\n```",
    ),
    "a heading by its role": (
        "<div role=heading aria-level=3>Part</div><div role=heading>Other</div><div role=heading aria-level=x9>Third</div>",
        "### Part\n\n## Other\n\n## Third",
    ),
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_what_markdown_has_no_element_for_stays_readable(kind: str) -> None:
    html, text = ELEMENTS[kind]
    assert text_of(f"<body>{html}</body>") == text


def test_noscript_is_read_where_the_page_has_next_to_no_text() -> None:
    no = "<noscript><p>Turn on <a href=/js>scripts</a>.</p></noscript>"
    assert text_of(f"<div id=app></div>{no}") == "Turn on [scripts](https://docs.example/js)."
    assert text_of(f"<p>{'words of it ' * 40}</p>{no}") == ("words of it " * 40).strip()


@pytest.mark.parametrize("value", ["0; url=/new page", "3;URL='/new page'", "0 , url = /new page "])
def test_a_page_that_leads_on_says_where_to(value: str) -> None:
    text = text_of(f'<title>Other place</title><meta http-equiv=Refresh content="{value}"><main>Moved.</main>')
    assert text == "This page leads on to https://docs.example/new%20page\n\n# Other place\n\nMoved."
    alone = text_of(f'<noscript><meta http-equiv=refresh content="{value}"></noscript>')
    assert alone == "This page leads on to https://docs.example/new%20page"
    for other in ("30", "0; url=javascript:x()", f"30; url={URL}"):
        assert text_of(f'<meta http-equiv=refresh content="{other}"><p>Stay.</p>') == "Stay."


# --- tables -----------------------------------------------------------------------------------------------------------

ROWS = "<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>"
TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |"
TABLES = {
    "a caption": (f"<table><caption>Cups <i>here</i></caption>{ROWS}</table>", f"Cups *here*\n\n{TABLE}"),
    "a first row that spans": (f"<table><tr><th colspan=2>Cups</th></tr>{ROWS}</table>", f"Cups\n\n{TABLE}"),
    "a first row that spans, in a head": (
        f"<table><thead><tr><td colspan=9>Cups</td></tr></thead><tbody>{ROWS}</tbody></table>",
        f"Cups\n\n{TABLE}",
    ),
    "columns named": (f"<table><colgroup><col><col></colgroup><tbody>{ROWS}</tbody></table>", TABLE),
    "a head of two rows": (
        "<table><thead><tr><th colspan=2>A</th><th>B</th></tr><tr><th>a</th><th>b</th><th>c</th></tr></thead>"
        "<tr><td>1</td><td>2</td><td>3</td></tr></table>",
        "| A | | B |\n| --- | --- | --- |\n| a | b | c |\n| 1 | 2 | 3 |",
    ),
    "a short first row": (
        "<table><tr><td>x</td></tr><tr><td>1</td><td>a|b</td></tr></table>",
        "| x | |\n| --- | --- |\n| 1 | a\\|b |",
    ),
    "a wide span": (
        "<table><tr><td>1</td><td colspan=99999999>2</td></tr><tr><td>3</td></tr></table>",
        "| 1 | 2 |\n| --- | --- |\n| 3 |",
    ),
    "lists in cells": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>is<ul><li>one<ul><li>x</li><li>y</li></ul></li><li></li>"
        "<li>two</li></ul></td><td><ol><li><p>3</p></li><li>4</li></ol></td></tr></table>",
        "| a | b |\n| --- | --- |\n| is one (x, y); two | 3; 4 |",
    ),
    "numbered lines": (
        "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>"
        "<td class=code><div class=highlight-python><pre><span class=k>if</span> a:\n  b</pre></div></td></tr></table>",
        "```python\nif a:\n  b\n```",
    ),
    "numbers in the lines": (
        "<pre><span class=lineno>1 </span>a\n<span class='linenos special'> 2</span>b</pre>",
        "```\na\nb\n```",
    ),
    "no numbers": ("<table><tr><td class=lineno>1a</td><td>b</td></tr></table>", "| 1a | b |\n| --- | --- |"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_tables_of_markdown_and_code_has_no_numbers(kind: str) -> None:
    html, text = TABLES[kind]
    got = text_of(f"<main>{html}</main>")
    assert [" ".join(line.split()) for line in got.split("\n")] == [" ".join(line.split()) for line in text.split("\n")]


# --- time ------------------------------------------------------------------------------------------------------------

LARGE = {
    "powers": "x<sup>2</sup>",
    "cards": "<a href=/c><h3>Head</h3><p>Teaser</p></a>",
    "buttons": "a<button>b</button>",
    "controls": "a<input>",
    "films": "a<video src=v.mp4></video>",
    "pictures": "<a href=/c><img src=a.png></a>",
    "articles": "<article><h1>a</h1></article>",
    "mains": "<main>a</main>",
    "menus": "a<nav>b</nav>",
    "listings": "<pre>a</pre><button>Copy</button>",
    "numbers": "<pre><span class=lineno>1</span>a</pre>",
    "tables": "<table><caption>c</caption><tr><td>1</td><td>2</td></tr></table>",
    "rows": "<tr><td>a</td><td colspan=9999><ul><li>b</li></ul></td></tr>",
    "metas": "<meta http-equiv=refresh content=url>",
}


@pytest.mark.parametrize("kind", LARGE)
def test_no_kind_of_markup_takes_more_than_time_in_proportion(kind: str) -> None:
    """Counted in calls, so that it holds on a busy machine: four times the page, about four times the work."""
    part = LARGE[kind]

    def work(times: int) -> int:
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        html = "<body>" + (f"<table>{part * times}</table>" if kind == "rows" else part * times)
        sys.setprofile(count)
        try:
            markdown(html, URL)
        finally:
            sys.setprofile(None)
        return calls

    text_of("<p>x</p>")
    assert work(200) < 6 * work(50)
