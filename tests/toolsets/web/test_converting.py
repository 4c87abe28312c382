"""Bodies as text: encodings whatever was said of them, HTML as Markdown, PDF by pages, and pages made to break it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.errors import ToolError
from pegboard.kit import process
from pegboard_tools_web import converting
from pegboard_tools_web.converting import Converted, convert
from pegboard_tools_web.converting.charset import CODECS, codec_of, decode
from pegboard_tools_web.converting.html import markdown
from pegboard_tools_web.converting.kinds import kind_of, parsed
from pegboard_tools_web.converting.pdf import Unreadable, pdf_text
from pegboard_tools_web.converting.plain import plain_text

MakePdf = Callable[..., bytes]
PAGES = Path(__file__).parent / "pages"
URL = "https://docs.example/kettle/page.html"
JAPANESE = "これは日本語のテキストです。文字コードの判定を試みます。"
FRENCH = "Les élèves français étudient à l'école. Déjà vu, garçon"
RUSSIAN = "Это русский текст, который нужно распознать. Москва столица России."


# --- encodings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codec", "declared", "text"),
    [
        ("utf-8", None, JAPANESE),
        ("utf-8", "iso-8859-1", "déjà vu"),  # declared wrong: valid UTF-8 is hardly ever anything else
        ("utf-8-sig", "windows-1251", RUSSIAN),  # a mark is believed first
        ("utf-16", "utf-8", JAPANESE),
        ("utf-16-le", "utf-16le", JAPANESE),
        ("utf-8", "utf-16", "<html><p>hello</p></html>"),  # declared wrong: UTF-16 would have zero bytes
        ("utf-8", "utf-16be", f"<p>{JAPANESE}" * 300),
        ("cp1252", "utf-16le", f"<p>{FRENCH}"),
        ("utf-16-le", "utf-16", "あいうえおかきくけこ"),  # it would pass for ASCII
        ("utf-16-le", "utf-16", f"<p>{JAPANESE}"),
        ("utf-16-be", None, "hello, this is a page without a mark"),
        ("shift_jis", "Shift_JIS", JAPANESE),
        ("shift_jis", None, JAPANESE),
        ("shift_jis", "utf-8", JAPANESE),  # declared wrong: the bytes contradict it
        ("euc_jp", "x-euc-jp", JAPANESE),
        ("cp1251", "windows-1251", "Это"),
        ("cp1251", None, RUSSIAN),
        ("cp1252", "iso-8859-1", "“quoted” – and a dash"),  # what browsers take Latin-1 for
        ("cp1252", None, FRENCH),
        ("cp1252", "utf-8", FRENCH),
        ("cp1252", "no-such-charset", "caf\xe9 " + FRENCH),
        ("gb18030", "gb2312", "这是一个中文网页"),
        ("cp1250", None, "Příliš žluťoučký kůň úpěl ďábelské ódy, šťastný život. Řeřicha"),
    ],
)
def test_text_is_read_in_the_encoding_it_is_in(codec: str, declared: str | None, text: str) -> None:
    assert decode(text.encode(codec), declared)[0] == text


@pytest.mark.parametrize(
    "head",
    [
        b'<meta charset="shift_jis">',
        b"<META http-equiv='content-type' content='text/html; charset=Shift_JIS'>",
        b'<?xml version="1.0" encoding="shift-jis"?>',
    ],
)
def test_a_page_may_name_its_encoding_itself_and_the_header_comes_first(head: bytes) -> None:
    body = head + "短".encode("shift_jis")
    assert decode(body)[0].endswith("短")
    assert decode(b'<meta charset="koi8-r">' + "Это".encode("cp1251"), "windows-1251")[0].endswith("Это")


def test_what_is_damaged_or_cut_stays_in_its_encoding() -> None:
    assert decode("日本語".encode()[:-1]) == ("日本", "utf-8")
    assert decode("日本語".encode("shift_jis")[:-1], "shift_jis")[0] == "日本"
    text, encoding = decode(("é" * 50).encode() + b"\xff" + b"ok")
    assert (text, encoding) == ("é" * 50 + "\ufffdok", "utf-8")


@pytest.mark.parametrize(
    "label", ["unicode_escape", "idna", "punycode", "zlib", "rot13", "utf-7", "mbcs", "undefined", ""]
)
def test_codecs_of_python_that_the_web_does_not_know_are_never_used(label: str) -> None:
    assert codec_of(label) is None
    assert decode(b"+AGE- \\u0041 text", label)[0] == "+AGE- \\u0041 text"


@given(st.binary(max_size=200), st.sampled_from([None, "nonsense", *CODECS]))
def test_reading_bytes_never_fails(body: bytes, declared: str | None) -> None:
    text, encoding = decode(body, declared)
    assert encoding in CODECS
    text.encode("utf-16", "surrogatepass")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80))
def test_utf8_comes_back_whatever_one_byte_encoding_was_declared(text: str) -> None:
    marked = text.startswith("\ufeff")
    assert decode(text.encode(), "windows-1250")[0] == (text[1:] if marked else text)


# --- kinds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"<p>x", "html"),
        ("application/xhtml+xml", b"<html/>", "html"),
        (None, b" <!-- c -->\n<!DOCTYPE HTML><p>x", "html"),
        ("application/octet-stream", "<html>日".encode("utf-16"), "html"),
        ("text/plain", b"<html> is a tag", "text"),
        ("application/json", b"{}", "text"),
        ("application/ld+json; charset=x", b"{}", "text"),
        ("image/svg+xml", b"<svg/>", "text"),
        ("text/html", b"%PDF-1.7 ...", "pdf"),
        ("application/pdf", b"%PDF-1.7 ...", "pdf"),
        ("application/pdf", b"<p>Log in</p>", None),
        ("image/png", b"\x89PNG\r\n\x1a\n\0\0", None),
        ("text/html", b"\x89PNG\r\n\x1a\n\0\0", None),
        ("text/plain", b"\x7fELF\x02\x01\x01\0\0\0", None),
        (None, b"PK\x03\x04\0\0", None),
        (None, b"just words", "text"),
        ("video/mp4", b"just words", None),
    ],
)
def test_what_a_body_is_follows_from_its_type_and_its_first_bytes(
    declared: str | None, body: bytes, kind: str | None
) -> None:
    assert kind_of(parsed(declared)[0], body) == kind


def test_looking_for_html_behind_comments_takes_no_time_to_speak_of() -> None:
    """Comments can be split in 2 ** 100 ways; a pattern that tried them would not come back."""
    assert kind_of("", b"<!---->" * 100 + b"words") == "text"
    assert kind_of("", b"<!---->" * 100 + b"<html>") == "html"


# --- HTML -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.html")), ids=lambda page: page.stem)
def test_golden_pages(page: Path) -> None:
    text = markdown(page.read_text("utf-8"), URL)[1]
    assert text + "\n" == page.with_suffix(".txt").read_text("utf-8")


SHORT = {
    "an article with a menu and a footer": (
        "<title>Small</title><header><a href='/'>Site</a></header><nav><ul><li><a href='/docs'>Docs</a></ul></nav>"
        "<article><h1>Small</h1><p>It says <a href='more.html'>more</a> and is <strong>bold</strong>.</p><h2>A part</h2>"
        "<ul><li>one</li><li>two</li></ul><ol><li>first</li><li>second</li></ol></article><footer>Imprint</footer>",
        "# Small\n\nIt says [more](https://docs.example/kettle/more.html) and is **bold**.\n\n## A part\n\n- one\n- two\n\n"
        "1. first\n2. second",
    ),
    "code and a table, in a page that does not name its content": (
        "<nav><a href='/'>Home</a></nav><div><h1>Set up</h1><p>See <a href='../src/'>the source</a>.</p>"
        "<div class='highlight-console'><pre><span>make</span>\n\n<b>make</b> install\n</pre></div><h3>Options</h3>"
        "<table><tr><th>a_b</th><th>what</th></tr><tr><td>1|2</td><td><code>x*y</code></td></tr></table></div>",
        "# Set up\n\nSee [the source](https://docs.example/src/).\n\n```console\nmake\n\nmake install\n```\n\n"
        "### Options\n\n"
        "| a_b | what |\n| --- | --- |\n| 1\\|2 | `x*y` |",
    ),
    "a few words and a link": (
        "<title>Example</title><div><h1>Example</h1>"
        "<p>This is for use in examples.</p><p><a href='/m'>More...</a></p></div>",
        "# Example\n\nThis is for use in examples.\n\n[More...](https://docs.example/m)",
    ),
    "words in blocks": ("<title>Up</title><div>ok</div><div>3 of 3 workers</div>", "# Up\n\nok\n\n3 of 3 workers"),
    "a heading alone": ("<html><body><h1>Hello</h1></body></html>", "# Hello"),
    "a list alone": ("<ul><li>alpha<ul><li>inner</li></ul></li><li>beta</li></ul>", "- alpha\n  - inner\n- beta"),
    "a menu alone": ("<nav><a href='a'>A</a> <a href='b'>B</a></nav>", f"[A]({URL[:-9]}a) [B]({URL[:-9]}b)"),
    "a form": (
        "<form><h1>Sign in</h1><p>Give your name.</p><label>Name <input name=n value=v></label>"
        "<select><option>Unseen</select><button>Go</button><p><a href='/forgot'>Forgot?</a></p></form>",
        "# Sign in\n\nGive your name.\n\nName Go\n\n[Forgot?](https://docs.example/forgot)",
    ),
    "frames": (
        "<html><head><title>Manual</title></head><frameset><frame src='menu.html' name=menu><frame src='body.html'>"
        "<noframes><p>None here.</p></noframes></frameset></html>",
        f"# Manual\n\n[frame: menu]({URL[:-9]}menu.html)\n\n[frame: body.html]({URL[:-9]}body.html)",
    ),
    "tables that place things": (
        "<table><tr><td><h1>Left</h1><p>words</p></td><td><table><tr><td>a<td>b</table></td></tr></table>",
        "# Left\n\nwords\n\n| a | b |\n| --- | --- |",
    ),
    "another script and a base": (
        "<base href='/other/'><main><h1>東京</h1><p>首都です。<a href='大阪'>大阪</a>も。</p><ul><li>江戸</li></ul></main>",
        "# 東京\n\n首都です。[大阪](https://docs.example/other/%E5%A4%A7%E9%98%AA)も。\n\n- 江戸",
    ),
    "pictures and odd links": (
        "<p><img src='a.png' alt='a [chart]'> <img src='data:image/png;base64,AA' alt='seal'> <img src='track.gif'>"
        "<a href='b (1).html'>one</a> <a href=')('>two</a></p>",
        f"![a (chart)]({URL[:-9]}a.png) seal [one]({URL[:-9]}b%20(1).html) [two]({URL[:-9]}%29%28)",
    ),
    "nothing closed": (
        "<h1>Broken<p>text <a href=/ok>ok</a><li>item",
        "# Broken\n\ntext [ok](https://docs.example/ok)\n\n- item",
    ),
    "a fence in a listing": ("<h1>F</h1><pre>```\nrm\n```</pre>", "# F\n\n````\n```\nrm\n```\n````"),
    "nothing": ("<html><body></body></html>", ""),
}


@pytest.mark.parametrize("page", SHORT)
def test_a_short_page_comes_whole_with_its_headings_lists_and_links(page: str) -> None:
    html, text = SHORT[page]
    assert markdown(html, URL)[1] == text


def test_a_long_page_that_does_not_name_its_content_keeps_its_headings_lists_and_links() -> None:
    words = "The build takes every file of the folder and makes one archive of it. " * 5
    parts = "".join(
        f"<h2>Part {n}</h2><p>{words}<a href='p{n}'>see {n}</a></p><ul><li>point {n}</li></ul>" for n in range(90)
    )
    text = markdown(f"<nav>Menu</nav><div><h1>Long</h1>{parts}</div><footer>Imprint</footer>", URL)[1]
    assert len(text) > 30_000 and "Menu" not in text and "Imprint" not in text
    for n in range(90):
        assert f"## Part {n}\n" in text and f"\n- point {n}\n" in text + "\n" and f"[see {n}]({URL[:-9]}p{n})" in text


def test_a_page_of_two_megabytes_is_converted_in_the_time_there_is() -> None:
    part = f"<h2>Part</h2><p>{'words of it ' * 800} <a href='p'>see</a></p><ul><li>a</li></ul>"
    made = converted("<title>Big</title><main>" + part * 200 + "<h2>The end</h2></main>")
    assert made.note == "" and made.text.endswith("## The end") and made.text.count(f"[see]({URL[:-9]}p)") == 200


def test_scripts_and_links_that_are_code_do_not_come_through() -> None:
    text = markdown(
        "<p>Some words before it, and <a href='/b'>a link</a>.</p><script>steal()</script><style>p{}</style>"
        "<a href='javascript:steal()'>Press</a> <a href=' JaVaScRiPt:steal()'>or press</a>"
        "<a href='data:text/html,steal()'>or this</a>",
        URL,
    )[1]
    assert "steal" not in text and "Press" in text and "[a link](https://docs.example/b)" in text


@given(st.text(alphabet="<>/! -=\"'&;#abdipstx\n\0é", max_size=120))
def test_the_plain_conversion_takes_any_text(html: str) -> None:
    title, text = plain_text(html)
    assert "\n\n\n" not in text and title == " ".join(title.split())


# --- PDF --------------------------------------------------------------------------------------------------------------


def test_a_pdf_is_told_page_by_page(pdf: MakePdf) -> None:
    body = pdf("The first page says this", "The second one says that", title="A Report")
    title, text, note = pdf_text(body, most_chars=10_000, seconds=60)
    assert (title, note) == ("A Report", "")
    assert text == "[page 1 of 2]\nThe first page says this\n\n[page 2 of 2]\nThe second one says that"


def test_a_pdf_that_is_too_long_ends_at_a_page_and_says_so(pdf: MakePdf) -> None:
    _, text, note = pdf_text(pdf(*["the same words again"] * 9), most_chars=50, seconds=60)
    assert "[page 3 of 9]" in text and "[page 4 of 9]" not in text
    assert note == "the pages after 3 were left out: they are too much to convert"
    assert pdf_text(pdf(*["words"] * 3), most_chars=50, seconds=-1)[2].startswith("the pages after 1 ")


def test_a_pdf_of_few_words_is_not_called_pictures_unless_there_are_some(pdf: MakePdf) -> None:
    few = pdf("Yes.", "No.")
    drawn = few.replace(b"/Resources << ", b"/Resources << /XObject << /I << /Subtype /Image >> >> ")
    assert pdf_text(few, most_chars=50, seconds=60)[2] == ""
    assert "probably pictures" in pdf_text(drawn, most_chars=50, seconds=60)[2]
    many = b"Words enough for a page. ".join(drawn.split(b"Yes.")).replace(b"No.", b"And for another one, too.")
    assert pdf_text(many, most_chars=500, seconds=60)[2] == ""


def test_a_pdf_of_pictures_and_a_damaged_one_are_told(pdf: MakePdf) -> None:
    assert "probably pictures" in pdf_text(pdf("", ""), most_chars=50, seconds=60)[2]
    with pytest.raises(Unreadable, match="damaged"):
        pdf_text(b"%PDF-1.4\nnothing of the kind", most_chars=50, seconds=60)


# --- the child --------------------------------------------------------------------------------------------------------


def converted(
    body: bytes | str, content_type: str | None = "text/html", cwd: Path | None = None, crash: tuple[str, ...] = ()
) -> Converted:
    """`convert` over a real child, as a running tool would do it. `crash`: conversions that die by a signal."""

    async def run(argv: list[str], *, quiet: bool, **options: Any) -> process.Finished:
        if argv[4] in crash:
            argv = ["sh", "-c", "kill -SEGV $$"]
        return await process.run(argv, cwd=cwd or Path.cwd(), **options)

    data = body if isinstance(body, bytes) else body.encode()
    return asyncio.run(convert(run, data, content_type, URL))


def test_a_page_nested_a_hundred_thousand_levels_deep_is_converted() -> None:
    made = converted(f"<title>Deep</title><p>above</p>{'<div>' * 100_000}below{'</div>' * 100_000}")
    assert (made.title, made.text) == ("Deep", "# Deep\n\nabove\n\nbelow")
    assert made.note == "plain text without links: the page is nested too deep to be converted to Markdown"


def test_entities_that_grow_are_not_expanded() -> None:
    rows = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 12))
    made = converted(
        f"<!DOCTYPE x [<!ENTITY e0 'boom'>{rows}]><html><body><p>words before &e11; words</p></body></html>"
    )
    assert len(made.text) < 1000 and "words" in made.text


def test_a_page_that_hangs_the_libraries_is_ended_and_converted_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred thousand attributes keep lxml busy for minutes."""
    monkeypatch.setitem(converting.SECONDS, "html", 1.0)
    page = "<title>Slow</title><p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">what it says</p>"
    made = converted(page)
    assert made.text == "# Slow\n\nwhat it says"
    assert made.note == "plain text without links: the conversion to Markdown took longer than 1 s"


def test_a_conversion_that_crashes_takes_nothing_with_it() -> None:
    made = converted("<title>T</title><p>what it <a href='x'>says</a></p>", crash=("html",))
    assert (made.text, made.note) == (
        "# T\n\nwhat it says",
        "plain text without links: the conversion to Markdown failed (SIGSEGV)",
    )
    with pytest.raises(ToolError, match=r"cannot be converted to text: failed \(SIGSEGV\)"):
        converted("<p>x", crash=("html", "plain"))


def test_what_cannot_be_converted_in_time_is_an_error(monkeypatch: pytest.MonkeyPatch, pdf: MakePdf) -> None:
    monkeypatch.setattr(converting, "SECONDS", {"html": 0.001, "plain": 0.001, "pdf": 0.001})
    with pytest.raises(ToolError, match=r"cannot be converted to text: took longer than 0 s\. Take another page"):
        converted("<p>x")
    with pytest.raises(ToolError, match="cannot be converted to text: took longer"):
        converted(pdf("x"), "application/pdf")


def test_a_module_in_the_workspace_does_not_stand_in_for_a_library(tmp_path: Path) -> None:
    for name in ("lxml", "trafilatura", "msgspec", "json", "pegboard_tools_web"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the workspace was imported')\n")
    made = converted("<p>as ever</p>", cwd=tmp_path)
    assert (made.text, made.note) == ("as ever", "")


def test_importing_the_set_and_its_tools_imports_no_library() -> None:
    code = (
        "import sys, pegboard_tools_web; pegboard_tools_web.pegboard_tools(); heavy = 'lxml bs4 trafilatura markdownify "
        "pypdf ddgs primp charset_normalizer httpx2 httpcore2'.split(); print([m for m in heavy if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "[]\n"
