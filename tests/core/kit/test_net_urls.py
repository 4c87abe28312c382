"""How the guard reads URLs: in one way, or not at all."""

from __future__ import annotations

import socket
import string
from ipaddress import IPv4Address, ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pegboard.kit.net import Refused, block_of, join, parse


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://Docs.Example", "http://docs.example/"),
        ("HTTPS://docs.example./a?b#c", "https://docs.example/a?b"),
        ("http://docs.example:80/", "http://docs.example/"),
        ("https://docs.example:8443/", "https://docs.example:8443/"),
        ("http://docs.example:/", "http://docs.example/"),
        ("http://docs.example?q=1", "http://docs.example/?q=1"),
        ("http://bücher.example/grün?ü=ß", "http://xn--bcher-kva.example/gr%C3%BCn?%C3%BC=%C3%9F"),
        ('http://docs.example/a b"c\\d', "http://docs.example/a%20b%22c%5Cd"),
        ("http://docs.example/%41%2f%zz", "http://docs.example/%41%2f%zz"),
        ("http://93.184.216.34/", "http://93.184.216.34/"),
        ("http://[2606:2800:0220:0:0:0:0:1]:8080/", "http://[2606:2800:220::1]:8080/"),
        ("http://my_host.example/", "http://my_host.example/"),
    ],
)
def test_a_url_is_spelled_plainly(url: str, plain: str) -> None:
    assert parse(url).url == plain
    assert parse(plain).url == plain


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("docs.example/a", "scheme"),
        ("ftp://docs.example/", "scheme"),
        ("view-source:http://docs.example/", "scheme"),
        (" http://docs.example/", "scheme"),
        ("http:/docs.example/", "url"),
        ("http:docs.example", "url"),
        ("http://", "host"),
        ("http:///docs.example", "host"),
        ("http://user@docs.example/", "credentials"),
        ("http://@docs.example/", "credentials"),
        ("http://docs.example\\@127.0.0.1/", "credentials"),
        ("http://docs.example\\.evil.example/", "credentials"),
        ("http://docs.example%2eevil.example/", "host"),
        ("http://docs .example/", "host"),
        ("http://docs\u00a0.example/", "host"),
        ("http://docs\u3000.example/", "host"),
        ("http://docs.example\t/", "host"),
        ("http://docs..example/", "host"),
        ("http://docs.example../", "host"),
        ("http://-docs.example/", "host"),
        ("http://docs,example/", "host"),
        ("http://a\u2100b.example/", "host"),  # becomes a/c
        ("http://a\uff03b.example/", "host"),  # becomes #
        ("http://fa\u00df.example/", "host"),  # fass or fa\u00df: two standards, two hosts
        ("http://a\u200db.example/", "host"),
        ("http://" + "a" * 64 + ".example/", "host"),
        ("http://" + "a." * 200 + "example/", "host"),
        ("http://0x7f000001/", "host"),
        ("http://127.1/", "host"),
        ("http://1.2.3.4.5/", "host"),
        ("http://1.2.3.999/", "host"),
        ("http://example.0x/", "host"),
        ("http://::1/", "host"),
        ("http://[::1/", "host"),
        ("http://[::1]a/", "host"),
        ("http://[::1%25lo]/", "host"),
        ("http://[v1.a]/", "host"),
        ("http://[1.2.3.4]/", "host"),
        ("http://[]/", "host"),
        ("http://docs.example:0/", "port"),
        ("http://docs.example:65536/", "port"),
        ("http://docs.example:+80/", "port"),
        ("http://docs.example:8 0/", "host"),
        ("http://docs.example:\uff18\uff10/", "port"),
        ("http://docs.example/\r\nHost: 127.0.0.1", "url"),
        ("http://docs.example/\x7f", "url"),
        ("http://docs.example/\ud800", "url"),
        ("http://docs.example/" + "a" * 9000, "url"),
    ],
)
@pytest.mark.row("Z-044")
def test_what_could_be_read_in_two_ways_is_refused(url: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(url)
    assert refused.value.reason == reason
    assert "Nothing was requested there." in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_host_without_its_scheme_is_told_what_is_missing() -> None:
    for url in ("localhost:8000", "docs.example:8443/a"):
        with pytest.raises(Refused, match=r"does not begin with http.*Add http:// in front of it\.$"):
            parse(url)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://docs.example/b"),
        ("b", "https://docs.example/a/b"),
        ("../b?c", "https://docs.example/b?c"),
        ("?c", "https://docs.example/a/?c"),
        ("//other.example/b", "https://other.example/b"),
        ("http://other.example", "http://other.example/"),
        (" /b ", "https://docs.example/b"),
        ("/b c", "https://docs.example/b%20c"),
        ("/\\evil.example/", "https://docs.example/%5Cevil.example/"),
        ("\\\\evil.example/", "https://docs.example/a/%5C%5Cevil.example/"),
        ("/a@b:c", "https://docs.example/a@b:c"),
        ("/grün", "https://docs.example/gr%C3%BCn"),
        ("#part", "https://docs.example/a/"),
    ],
)
def test_a_redirect_is_read_from_the_url_that_answered(location: str, url: str) -> None:
    assert join(parse("https://docs.example/a/"), location).url == url


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http:b", "url"),
        ("javascript:alert(1)", "scheme"),
        ("//user@other.example/", "credentials"),
        ("//[::1/", "host"),
        ("/b\nSet-Cookie: x", "url"),
        ("\x01http://other.example/", "url"),
        ("http://other.example\t/", "url"),
    ],
)
def test_a_redirect_that_could_be_read_in_two_ways_is_refused(location: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        join(parse("https://docs.example/a/"), location)
    assert refused.value.reason == reason


def test_a_fragment_lives_through_a_redirect_and_is_never_sent() -> None:
    base = parse("https://docs.example/a#part")
    assert base.fragment == "part"
    assert base.url == "https://docs.example/a"
    assert join(base, "/b").fragment == "part"
    assert join(base, "/b#other").fragment == "other"


# --- whatever the spelling ---------------------------------------------------------------------------------------------

FORBIDDEN = st.one_of(
    *(
        st.integers(int(IPv4Address(first)), int(IPv4Address(last)))
        for first, last in [
            ("127.0.0.0", "127.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("169.254.0.0", "169.254.255.255"),
            ("0.0.0.0", "0.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("224.0.0.0", "255.255.255.255"),
        ]
    )
)


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """An IPv4 address as `inet_aton` reads it: one to four parts, each decimal, octal or hexadecimal, zeros in front."""
    number = draw(FORBIDDEN)
    count = draw(st.integers(1, 4))
    parts = [number >> 8 * (3 - i) & 0xFF for i in range(count - 1)]
    parts.append(number & (1 << 8 * (5 - count)) - 1)
    written = []
    for part in parts:
        form = draw(st.sampled_from(["{:d}", "0{:o}", "0x{:x}", "0X{:X}", "0x00{:x}", "000{:o}"]))
        written.append(form.format(part))
    digits = draw(st.sampled_from(["ascii", "wide", "dots"]))
    text = ".".join(written)
    if digits == "wide":
        return "".join(chr(ord(c) + 0xFEE0) if c != "." else c for c in text)
    return text.replace(".", draw(st.sampled_from("\u3002\uff0e\uff61"))) if digits == "dots" else text


@given(host=spellings(), dot=st.sampled_from(["", "."]))
@example(host="0x7f.1", dot="")
@pytest.mark.row("Z-044")
def test_no_spelling_of_a_forbidden_address_is_read_as_something_else(host: str, dot: str) -> None:
    try:
        target = parse(f"http://{host}{dot}/")
    except Refused:
        return
    assert target.address is not None
    assert block_of(target.address) is not None


HOSTILE = st.text(alphabet="".join(["0123456789abcdefx.:%@\\/?#[]-_ \t", "１２。\u00ad\u200bª℀ß"]), max_size=24)


@given(host=HOSTILE)
@example(host="1")
@example(host="0x")
@example(host="1.0x")
def test_whatever_the_platform_takes_for_a_number_is_that_number_or_refused(host: str) -> None:
    try:
        target = parse(f"http://{host}/")
    except Refused:
        return
    assert set(target.host) <= set(string.ascii_lowercase + string.digits + "._-:")
    try:
        reached = socket.inet_ntoa(socket.inet_aton(target.host))
    except OSError:
        assert target.address is None or ":" in target.host
    else:
        assert reached == str(target.address)


@given(host=HOSTILE, tail=st.text(max_size=20))
def test_what_was_read_is_read_the_same_by_others_and_again(host: str, tail: str) -> None:
    try:
        target = parse(f"http://{host}{tail}")
    except Refused:
        return
    again = urlsplit(target.url)
    assert (again.hostname, again.port or 80, again.username) == (target.host, target.port, None)
    assert target.url.isascii()
    assert target.url.isprintable()
    assert " " not in target.url
    assert parse(target.url).url == target.url


@given(location=st.text(alphabet="abh:/\\?#@.[]%1 \té\n", max_size=16))
def test_a_redirect_leads_where_it_says_or_nowhere(location: str) -> None:
    base = parse("https://docs.example/a/b")
    try:
        target = join(base, location)
    except Refused:
        return
    assert parse(target.url).url == target.url
    if not location.strip(" \t").startswith(("//", "http")):
        assert target.origin == base.origin
    assert ip_address(target.host) if target.address else True
