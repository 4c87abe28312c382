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


def test_a_page_of_links_keeps_its_links_and_a_short_page_all_its_words() -> None:
    """trafilatura alone drops both: this is what the fallback is for."""
    links = "".join(f"<li><a href='part{n}'>Part {n}</a></li>" for n in range(30))
    text = markdown(f"<html><body><ul>{links}</ul></body></html>", URL)[1]
    assert all(f"[Part {n}](https://docs.example/kettle/part{n})" in text for n in range(30))
    last = "<p>The build of the main branch is green today.</p><div id='footer'><p>The deployment failed at noon.</p></div>"
    assert "The deployment failed at noon." in markdown(f"<html><body>{last}</body></html>", URL)[1]
    assert markdown("<title>Up</title><div>ok</div><div>3 of 3 workers</div>", URL)[1] == "# Up\n\nok\n\n3 of 3 workers"


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
    assert (made.title, made.text, made.note) == ("Deep", "# Deep\n\nabove\n\nbelow", "")


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
