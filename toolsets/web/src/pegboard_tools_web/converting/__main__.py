"""The child that converts: `python -P -m pegboard_tools_web.converting KIND URL CHARSET`, the body on stdin.

It answers one JSON object on stdout (`Answer`). It limits its own memory; its time is limited by who started it.
"""

from __future__ import annotations

import contextlib
import os
import sys

from pegboard_tools_web.converting import MOST_CHARS, PDF_SECONDS, Answer
from pegboard_tools_web.converting.charset import decode

MEMORY = 2 << 30
"""Bytes of address space."""


def main(kind: str, url: str, charset: str) -> Answer:
    """Convert what is on stdin. `kind`: html, pdf, or plain (HTML without the libraries)."""
    body = sys.stdin.buffer.read()
    if kind == "pdf":
        from pegboard_tools_web.converting.pdf import Unreadable, pdf_text

        try:
            title, text, note = pdf_text(body, most_chars=MOST_CHARS, seconds=PDF_SECONDS)
        except Unreadable as error:
            return Answer(error=str(error))
        return Answer(title=title, text=text, note=note)
    html, encoding = decode(body, charset or None)
    note = ""
    if kind == "html":
        from pegboard_tools_web.converting.html import markdown

        title, text, note = markdown(html, url)
    else:
        from pegboard_tools_web.converting.plain import titled_text

        title, text = titled_text(html)
    return Answer(title=title, text=text, encoding=encoding, note=note)


def limit_memory() -> None:
    """Let no page take more than `MEMORY`. Where the system cannot say so, time alone limits it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    import msgspec

    limit_memory()
    answer_to = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no part of the answer
    answer = main(*sys.argv[1:4])
    answer.text = answer.text[:MOST_CHARS].encode("utf-8", "replace").decode()
    answer.title = answer.title.encode("utf-8", "replace").decode()
    with open(answer_to, "wb") as out:
        out.write(msgspec.json.encode(answer))
    sys.stdout = sys.stderr
    os._exit(0)  # freeing a deep tree takes as long as making it
