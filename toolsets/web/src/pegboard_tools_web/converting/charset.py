"""Bytes of a web page as text, whatever was said of their encoding.

What is believed, in this order: a byte order mark; the charset of the HTTP header; that of a `meta` tag in the first
kilobyte; UTF-8; a guess. A declaration that the bytes contradict is passed over; hardly any bytes contradict UTF-16 but
markup and blanks without zero bytes. Names mean what browsers take them to mean (the WHATWG's table of labels):
`iso-8859-1` is windows-1252. Names outside the table are not looked up, for Python knows codecs that are no encodings of
text.
"""

from __future__ import annotations

import codecs
import re

_LABELS = {
    "utf_8": "utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8",
    "utf_16_le": "utf-16 utf-16le ucs-2 unicode iso-10646-ucs-2 csunicode",
    "utf_16_be": "utf-16be unicodefffe",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso_8859-1 iso88591 latin1 l1 ascii us-ascii cp819",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 latin5 l5",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "cp874": "windows-874 dos-874 tis-620 iso-8859-11",
    "cp866": "ibm866 cp866 866 csibm866",
    "iso8859_2": "iso-8859-2 iso8859-2 latin2 l2",
    "iso8859_3": "iso-8859-3 iso8859-3 latin3 l3",
    "iso8859_4": "iso-8859-4 iso8859-4 latin4 l4",
    "iso8859_5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859_6": "iso-8859-6 iso8859-6 arabic",
    "iso8859_7": "iso-8859-7 iso8859-7 greek",
    "iso8859_8": "iso-8859-8 iso8859-8 hebrew iso-8859-8-i",
    "iso8859_10": "iso-8859-10 latin6 l6",
    "iso8859_13": "iso-8859-13",
    "iso8859_14": "iso-8859-14",
    "iso8859_15": "iso-8859-15 latin9 l9",
    "iso8859_16": "iso-8859-16",
    "koi8_r": "koi8-r koi8 koi",
    "koi8_u": "koi8-u koi8-ru",
    "mac_roman": "macintosh mac x-mac-roman",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j ms932",
    "euc_jp": "euc-jp x-euc-jp",
    "iso2022_jp": "iso-2022-jp csiso2022jp",
    "cp949": "euc-kr euckr ks_c_5601-1987 ksc5601 korean windows-949",
    "gb18030": "gb18030 gbk gb2312 gb_2312 gb_2312-80 chinese x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5",
}
CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
"""Labels, in lower case, and Python's codec for each."""
_NAMES = {codec: labels.split()[0] for codec, labels in _LABELS.items()}
_BOMS = ((codecs.BOM_UTF8, "utf_8"), (codecs.BOM_UTF16_LE, "utf_16_le"), (codecs.BOM_UTF16_BE, "utf_16_be"))
_META = re.compile(rb"""<meta\s[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.\-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""\A\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w:.\-]{1,40})""")
_NARROW = re.compile(rb"<[a-zA-Z!/?]|[ \t\n]")
_PRESCAN = 1024
_SAMPLE = 1 << 16
"""Bytes that a guess looks at."""
_ONE_BYTE = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r"]
_GUESSED = ["utf_8", *_ONE_BYTE, "cp932", "euc_jp", "cp949", "gb18030", "big5hkscs"]


def codec_of(label: str | None) -> str | None:
    """Python's codec for a charset that a page declared; None for a name that the web does not know."""
    return CODECS.get(label.strip().strip("\"'").lower()) if label else None


def decode(body: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text, without its byte order mark, and the name of the encoding. Never fails: what fits nothing is replaced.

    `declared`: the charset of the HTTP header. A last character that was cut in its middle is left out of text of which
    the rest tells the encoding.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return _lenient(body[len(mark) :], codec), _NAMES[codec]
    said = [codec for codec in (_believed(codec_of(declared), body), _in_body(body)) if codec]
    if not said and (wide := _wide(body)):
        return _lenient(body, wide), _NAMES[wide]
    for codec in _in_order(said, body):
        text = _strict(body, codec)
        if text is not None:
            return text, _NAMES[codec]
    codec = _guess(body, said)
    return _lenient(body, codec), _NAMES[codec]


def _believed(codec: str | None, body: bytes) -> str | None:
    """The codec of the header; None for UTF-16 where the bytes are another encoding's: they have markup or blanks without
    a NUL, which UTF-16 has beside each, and are UTF-8 or mostly ASCII."""
    head = body[:4096]
    if codec not in ("utf_16_le", "utf_16_be") or b"\0" in head or not _NARROW.search(head):
        return codec
    try:
        codecs.getincrementaldecoder("utf_8")().decode(head, False)  # the last character may be cut
    except UnicodeError:
        return None if sum(byte < 127 for byte in head) > 0.7 * len(head) else codec
    return None


def _in_body(body: bytes) -> str | None:
    """What the page says itself. It was read as ASCII, so it is not UTF-16 whatever it says."""
    found = _META.search(body[:_PRESCAN]) or _XML.match(body[:_PRESCAN])
    codec = codec_of(found[1].decode("ascii", "replace")) if found else None
    return "utf_8" if codec in ("utf_16_le", "utf_16_be") else codec


def _in_order(said: list[str], body: bytes) -> list[str]:
    """Candidates. UTF-8 that is valid and not ASCII alone is hardly ever anything else, so it comes before a one-byte
    encoding, which fits any bytes; it comes last where another one was declared that could fail."""
    fits_all = [codec for codec in said if codec.startswith(("cp12", "iso8859", "koi8", "mac_", "cp866", "cp874"))]
    firm = [codec for codec in said if codec not in fits_all]
    return list(dict.fromkeys([*firm, "utf_8", *fits_all] if not body.isascii() else [*said, "utf_8"]))


def _strict(body: bytes, codec: str) -> str | None:
    """The text, if the bytes are all valid."""
    try:
        return body.decode(codec)
    except UnicodeError:
        return None


def _lenient(body: bytes, codec: str) -> str:
    return codecs.getincrementaldecoder(codec)("replace").decode(body, False)


def _wide(body: bytes) -> str | None:
    """UTF-16 without a mark, told by where its zero bytes are; None where there are few."""
    head = body[:4096]
    least = len(head) // 5
    odd, even = head[1::2].count(0), head[::2].count(0)
    if max(odd, even) <= max(least, 1) or min(odd, even) > least // 4:
        return None
    return "utf_16_le" if odd > even else "utf_16_be"


def _guess(body: bytes, said: list[str]) -> str:
    """The encoding of bytes that fit nothing that was declared: damaged text of that encoding, or text of another."""
    for codec in dict.fromkeys([*said, "utf_8"]):
        text = _lenient(body[:_SAMPLE], codec)
        wrong = text.count("\N{REPLACEMENT CHARACTER}")
        right = sum(not char.isascii() for char in text) - wrong
        if wrong < right:
            return codec
    from charset_normalizer import from_bytes

    found = list(from_bytes(body[:_SAMPLE], cp_isolation=_GUESSED, enable_fallback=False))
    western = next((match for match in found if match.encoding == "cp1252"), None)
    if not found or (western and western.chaos <= found[0].chaos and western.coherence > found[0].coherence - 0.05):
        return "cp1252"  # what browsers take undeclared pages for
    return found[0].encoding if found[0].encoding in _NAMES else "cp1252"
