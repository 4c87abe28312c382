"""The text of a PDF, page by page."""

from __future__ import annotations

import io
import time
from typing import Any

_TOO_FEW = 20
"""Characters a page below which a document with pictures, or without any text, is taken for pictures of pages."""


class Unreadable(Exception):
    """The document cannot be read; the text says why."""


def pdf_text(body: bytes, *, most_chars: int, seconds: float) -> tuple[str, str, str]:
    """Title, text and a note. After `most_chars` or `seconds` the pages that are left are left out, and the note says so.

    Raises:
        Unreadable: it is damaged or locked by a password.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    until, taken, parts, note = time.monotonic() + seconds, 0, [], ""
    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("the PDF is locked by a password")
        pages = len(reader.pages)
        title = str(reader.metadata.title or "") if reader.metadata else ""
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text().strip()
            taken += len(text)
            parts.append(f"[page {number} of {pages}]\n{text or '(no text on this page)'}")
            if number < pages and (taken > most_chars or time.monotonic() > until):
                note = f"the pages after {number} were left out: they are too much to convert"
                break
        if parts and not note and taken < _TOO_FEW * len(parts) and (not taken or any(map(_drawn, reader.pages))):
            note = "hardly any text is in this PDF; its pages are probably pictures"
    except RecursionError:
        raise Unreadable("the PDF is damaged: its parts refer to themselves") from None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, ArithmeticError) as error:
        if "cryptography" in str(error):
            raise Unreadable("the PDF is encrypted in a way that is not supported") from None
        raise Unreadable(f"the PDF is damaged ({type(error).__name__})") from None
    return " ".join(title.split()), "\n\n".join(parts), note


def _drawn(page: Any) -> bool:
    """Whether pictures are among what a page draws. Forms are not looked into: scanners draw their pages at once."""
    found: Any = page
    for name in ("/Resources", "/XObject"):
        found = found[name] if name in found else {}  # noqa: SIM401 - `get` would give references, not what they refer to
    return any(found[name].get("/Subtype") == "/Image" for name in found)
