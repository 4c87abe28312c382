"""Check the pages: every link between files of the repository leads to a file, and to a heading where it names one.

    check_links.py [PAGE ...]      default: every Markdown page but the copies in tests/shared

Exit 1 when a link leads nowhere; each is printed as page:line. Links to the web are not followed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = {"build", "dist", "site", "shared", "templates"}
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)")
CODE = re.compile(r"`[^`]*`")


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of fenced code, numbered from 1, with code spans blanked."""
    fence = ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence:
            yield number, line


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them: lower case, no punctuation, hyphens for spaces."""
    found: set[str] = set()
    for _, line in prose(page):
        if heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.add(next(name for n in range(1000) if (name := f"{slug}-{n}" if n else slug) not in found))
    return found


def broken(page: Path) -> Iterator[str]:
    """What is wrong with the links of a page."""
    for number, line in prose(page):
        for match in LINK.finditer(CODE.sub("", line)):
            link = urlsplit(match[1] or match[2])
            if link.scheme or link.netloc:
                continue
            target = (page.parent / unquote(link.path)).resolve() if link.path else page
            place = f"{page.relative_to(ROOT)}:{number}"
            if not target.is_relative_to(ROOT):
                yield f"{place}: {match[0]} leads out of the repository"
            elif not target.exists():
                yield f"{place}: {match[0]} leads to no file"
            elif link.fragment and target.suffix == ".md" and link.fragment not in anchors(target):
                yield f"{place}: {match[0]} names no heading there"


def every_page() -> Iterator[Path]:
    """The pages of the repository. Hidden folders hold none; what tests make there comes and goes meanwhile."""
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in SKIPPED and not name.startswith(".")]
        yield from (Path(folder, name) for name in files if name.endswith(".md"))


def main(arguments: list[str]) -> int:
    pages = [Path(name).resolve() for name in arguments] or sorted(every_page())
    problems = [problem for page in pages for problem in broken(page)]
    print("\n".join([*problems, f"{len(pages)} pages, {len(problems)} broken links"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
