"""What is shown of a stranger's wheel before a yes: read from the file alone, whatever is in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from pegboard.entries import Entry, scan
from pegboard_cli.installing import CannotInstall
from pegboard_cli.reviewed.coming import Coming
from pegboard_cli.reviewed.lines import review_lines
from pegboard_cli.reviewed.review import Review, review
from pegboard_cli.reviewed.wheel import Wheel
from pegboard_cli.styles import Styles
from stranger_wheels import make_wheel, said

ENTRIES = scan()


def look(path: Path, before: Review | None = None, entries: list[Entry] = ENTRIES) -> Review:
    return review(Wheel(path), entries, before)


def shown(found: Review) -> str:
    return "\n".join(review_lines(found, Coming(), "here", Styles(False)))


def test_it_says_what_each_tool_touches_and_what_each_role_may_do(tmp_path: Path) -> None:
    groups = {"pegboard.toolsets": {"loud": "stranger_loud"}, "pegboard.guards": {"watch": "stranger_watch"}}
    tools = [said("shout", "read"), said("blast", "run", "net", effect="side_effecting")]
    found = look(make_wheel(tmp_path, groups=groups, tools=tools, files={"stranger_watch.py": ""}))
    assert "  shout (read_only; read; 100 bytes a request): A tool." in shown(found)
    assert "  blast (side_effecting; run, net; 100 bytes a request): A tool." in shown(found)
    assert "guard watch: it sees every call before it is decided" in shown(found)
    assert f"sha256 {found.sha256}" in shown(found) and "depends on: nothing" in shown(found)


@pytest.mark.parametrize("role", ["approver", "rewriter"])
def test_who_answers_for_a_person_needs_a_line_of_their_own(tmp_path: Path, role: str) -> None:
    found = look(make_wheel(tmp_path, "nod", groups={f"pegboard.{role}s": {"nod": "stranger_nod"}}))
    assert found.entries[0].write == f'[plugins]\n{role}s = ["nod"]'
    assert f'    {role}s = ["nod"]' in shown(found).splitlines() and "does nothing until your own file" in shown(found)


def test_without_a_manifest_or_with_one_of_other_sources_nothing_is_claimed_of_its_tools(tmp_path: Path) -> None:
    bare = look(make_wheel(tmp_path))
    assert bare.manifest == "none" and bare.entries[0].tools is None
    assert "they are known once it is installed" in shown(bare)
    wheel = make_wheel(tmp_path, "lies", tools=[said("harmless")])
    lying = tmp_path / "stranger_lies-0.1-py3-none-any.whl.new"
    with ZipFile(wheel) as old, ZipFile(lying, "w") as new:
        for item in old.infolist():
            more = b"\nimport os\n" if item.filename.endswith("__init__.py") else b""
            new.writestr(item, old.read(item) + more)
    found = look(lying.rename(wheel))
    assert found.manifest == "stale" and found.entries[0].tools is None and "harmless" not in shown(found)


def test_what_is_new_since_the_installed_version_is_told_apart(tmp_path: Path) -> None:
    before = look(
        make_wheel(tmp_path, tools=[said("shout", "read"), said("old")], requires=["pegboard-core>=0.1", "gone"])
    )
    groups = {"pegboard.toolsets": {"loud": "stranger_loud"}, "pegboard.approvers": {"nod": "stranger_nod"}}
    after = look(
        make_wheel(
            tmp_path,
            version="0.2",
            groups={**groups, "console_scripts": {"loudly": "stranger_loud:main"}},
            tools=[said("shout", "read", "edit", effect="side_effecting"), said("scream", "net")],
            requires=["pegboard-core >=0.1,<0.2", "evil==1", 'only-testing; extra == "test"'],
            files={"stranger_nod.py": "", "stranger.pth": "import os"},
        ),
        before,
    )
    assert after.installed == "0.1"
    assert sorted(after.news) == sorted(
        [
            "+ approver nod",
            "! tool loud:shout touches more: read, edit; before: read",
            "! tool loud:shout is side_effecting; before: read_only",
            "+ tool loud:scream (read_only; net)",
            "- tool loud:old",
            "+ program loudly",
            "+ stranger.pth runs at every start of Python here, whether or not Pegboard is started",
            "+ depends on evil==1",
        ]
    )


def test_the_same_again_has_no_news(tmp_path: Path) -> None:
    before = look(make_wheel(tmp_path, tools=[said("shout", "read")]))
    again = look(make_wheel(tmp_path, version="0.3", tools=[said("shout", "read")]), before)
    assert again.news == [] and "It declares nothing that 0.1, which is installed, did not." in shown(again)


def test_what_cannot_be_compared_is_said_so(tmp_path: Path) -> None:
    before = look(make_wheel(tmp_path))
    after = look(make_wheel(tmp_path, version="0.2", tools=[said("shout")]), before)
    assert len(after.news) == 1 and "is not known" in after.news[0]


def test_what_runs_or_lies_where_nobody_looks_is_warned_of(tmp_path: Path) -> None:
    hidden = {
        "stranger_loud/fast.so": "x",
        "stranger_loud/__pycache__/__init__.cpython-311.pyc": "x",
        "sitecustomize.py": "",
        "usercustomize/__init__.py": "",
        "stranger_loud-0.1.data/data/etc/cron": "x",
        "stranger_loud-0.1.data/scripts/loud.sh": "x",
        "typer/__init__.py": "",
    }
    found = look(make_wheel(tmp_path, files=hidden))
    said = "\n".join(found.warnings)
    assert "sitecustomize.py runs at every start" in said and "fast.so" in said and "data/etc/cron" in said
    assert "usercustomize/__init__.py runs at every start" in said and "__init__.cpython-311.pyc" in said
    assert "replace files of other packages: typer/__init__.py" in said
    assert found.programs == ["loud.sh"] and "! sitecustomize.py runs" in shown(found)


@pytest.mark.parametrize(
    "file",
    [
        "pegboard/road.py",
        "pegboard_guard/__init__.py",
        "pegboard_cli.py",
        "stranger_loud-0.1.data/purelib/pegboard/x.py",
        "Pegboard/road.py",
        "pegboard.cpython-311-x86_64-linux-gnu.so",
    ],
)
def test_nobody_writes_into_a_part_of_pegboard(tmp_path: Path, file: str) -> None:
    with pytest.raises(CannotInstall, match="part of Pegboard itself; nothing was installed"):
        look(make_wheel(tmp_path, files={file: ""}))


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("zzz.egg-info/entry_points.txt", "metadata of another package"),
        ("stranger_loud-0.1.data/purelib/zzz-1.dist-info/entry_points.txt", "metadata of another package"),
        ("stranger_loud-0.1.data/platlib/stranger_loud-0.1.dist-info/more.txt", "metadata of another package"),
        ("zzz-1.DIST-INFO/entry_points.txt", "metadata of another package"),
        ("stranger_loud-0.1.data/purelib/stranger_loud/__init__.py", "two files for one place"),
        ("Stranger_Loud/__init__.py", "two files for one place"),
        ("stranger_loud-0.1.data/data/pegboard-lock.json", "into the environment itself"),
        ("stranger_loud-0.1.data/data/lib/python3.11/site-packages/pegboard/x.py", "into the environment itself"),
        ("stranger_loud-0.1.data/data/bin/git", "into the environment itself"),
        ("stranger_loud-0.1.data/elsewhere/x", "a place that is not known"),
    ],
)
def test_nothing_is_put_where_it_would_not_be_seen(tmp_path: Path, file: str, why: str) -> None:
    with pytest.raises(CannotInstall, match=why):
        look(make_wheel(tmp_path, files={file: ""}))


@pytest.mark.parametrize(
    ("program", "why"),
    [("pegboard", "replace"), ("Pegboard", "replace"), ("python3.11", "replace"), ("../../x", "lie elsewhere")],
)
def test_nobody_takes_the_name_of_our_program(tmp_path: Path, program: str, why: str) -> None:
    groups = {"pegboard.toolsets": {"loud": "stranger_loud"}, "console_scripts": {program: "stranger_loud:main"}}
    with pytest.raises(CannotInstall, match=why):
        look(make_wheel(tmp_path, groups=groups))


@pytest.mark.parametrize(
    "hidden",
    [
        "[pegboard.approvers]\n[harmless\nnod = stranger_loud\n",  # for Python, an approver
        "[pytest11]\n;nod = stranger_loud\n",
        "# a comment\u2028nod = stranger_loud\n",
        "[console_scripts]\nnod : stranger_loud\n",  # for uv, a program
    ],
)
def test_entry_points_that_are_read_in_two_ways_are_not_shown_in_one(tmp_path: Path, hidden: str) -> None:
    wheel = make_wheel(tmp_path, groups={"pegboard.toolsets": {"loud": f"stranger_loud\n{hidden}#"}})
    with pytest.raises(CannotInstall, match=r"entry_points\.txt has (a line|lines)"):
        look(wheel)


def test_a_dependency_is_left_out_only_where_an_extra_alone_brings_it(tmp_path: Path) -> None:
    lines = [
        "evil; extra == 'x' or python_version > '3'",
        "far @ https://host/a.whl;extra=='x'",
        "near; python_version > '3' and extra == 'x'",
    ]
    assert look(make_wheel(tmp_path, requires=lines)).dependencies == lines[:2]


@pytest.mark.parametrize(("asked", "fits"), [(">=3.8", True), (">=99", False), ("<3.0, >=2.7", False), ("odd", True)])
def test_a_wheel_for_another_python_is_told_before_the_question(tmp_path: Path, asked: str, fits: bool) -> None:
    wheel = make_wheel(tmp_path, summary=f"A plugin.\nRequires-Python: {asked}")
    assert (f"it is for Python {asked}, and this is 3." in shown(look(wheel))) is not fits


def test_a_package_without_a_plugin_is_not_ours_to_install(tmp_path: Path) -> None:
    with pytest.raises(CannotInstall, match="brings no plugin"):
        look(make_wheel(tmp_path, groups={"console_scripts": {"loud": "stranger_loud:main"}}))


def test_an_entry_that_would_not_be_used_says_why(tmp_path: Path) -> None:
    found = look(make_wheel(tmp_path, groups={"pegboard.guards": {"guard": "stranger_loud", "Bad_Name": "stranger_x"}}))
    why = {entry.name: entry.unused for entry in found.entries}
    assert "pegboard-guard" in (why["guard"] or "") and "[a-z]" in (why["Bad_Name"] or "")


def test_letters_that_a_terminal_obeys_are_spelled_wherever_they_stand(tmp_path: Path) -> None:
    evil = "x\x1b[2J\u202ey"
    wheel = make_wheel(
        tmp_path,
        groups={"pegboard.toolsets": {evil: "stranger_loud"}, f"other{evil}": {"name": "stranger_loud"}},
        tools=[said(f"tool{evil}", f"read{evil}", effect=f"read_only{evil}", description=evil)],
        requires=[f"dep{evil}"],
        summary=evil,
        files={f"{'a' + evil}.pth": ""},
    )
    text = shown(look(wheel, look(make_wheel(tmp_path, version="0.0"))))
    assert "\x1b" not in text and "\u202e" not in text and "\\x1b[2J\\u202e" in text


Change = Callable[[ZipFile], None]


def written(name: str, mode: int = 0o644) -> Change:
    def change(archive: ZipFile) -> None:
        item = ZipInfo(name)
        item.external_attr = mode << 16
        archive.writestr(item, "x")

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (written("../outside.py"), "lie elsewhere"),
        (written("/etc/passwd"), "lie elsewhere"),
        (written("a\\..\\b.py"), "lie elsewhere"),
        (written("C:/x.py"), "lie elsewhere"),
        (written("./pegboard/x.py"), "lie elsewhere"),
        (written("stranger_loud-0.1.data/scripts//pegboard"), "lie elsewhere"),
        (written("link", 0o120777), "a link"),
        (written("stranger_loud/__init__.py"), "twice"),
        (written("other-1.dist-info/METADATA"), "has 2"),
    ],
)
def test_a_wheel_that_would_be_dangerous_to_unpack_is_not_looked_into(tmp_path: Path, change: Change, why: str) -> None:
    wheel = make_wheel(tmp_path)
    with ZipFile(wheel, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own, about a name that is there twice
        change(archive)
    with pytest.raises(CannotInstall, match=why):
        Wheel(wheel)


def test_what_is_no_wheel_or_names_itself_otherwise_is_refused(tmp_path: Path) -> None:
    no = tmp_path / "no-0.1-py3-none-any.whl"
    no.write_text("no archive")
    with pytest.raises(CannotInstall, match="cannot be read as a wheel"):
        Wheel(no)
    wheel = make_wheel(tmp_path)
    with ZipFile(wheel) as old, ZipFile(no, "w") as new:
        for item in old.infolist():
            new.writestr(item.filename, old.read(item).replace(b"Name: stranger-loud", b"Name: pegboard-guard"))
    with pytest.raises(CannotInstall, match="name and version are not those"):
        Wheel(no)


def test_a_manifest_as_large_as_a_disk_is_not_read(tmp_path: Path) -> None:
    huge = look(make_wheel(tmp_path, files={"stranger_loud/pegboard.json": " " * (2 << 20)}))
    assert huge.manifest == "unreadable" and huge.entries[0].tools is None
