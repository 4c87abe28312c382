"""Trust in a project: for just the bytes that were shown, in just this folder. And what none may say, trusted or not."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pegboard_tools_core
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pegboard.board import Board
from pegboard.calls import STRICTNESS, Source
from pegboard.config import trust as trusting
from pegboard.config.checking import complaint
from pegboard.config.load import Loaded, Origin, load
from pegboard.config.project import Brought, brought
from pegboard.config.tightening import FREE
from pegboard.config.wishes import Wishes, wishes
from pegboard.errors import PegboardError
from pegboard.plugins import given as entry

ALLOWS = """\
[tool_permission]
edit = "allow"
"""


class Place:
    """A person's settings and state, and a project."""

    def __init__(self, top: Path) -> None:
        self.top, self.root = top, top / "root"
        self.user, self.state = top / "user.toml", top / "state"
        (self.root / ".pegboard" / "plugins").mkdir(parents=True)
        self.file = self.root / ".pegboard" / "config.toml"

    def brought(self, root: Path | None = None) -> Brought:
        return brought(str(root or self.root), self.user)

    def trust(self) -> None:
        trusting.trust(self.brought(), self.state)

    def load(self, root: Path | None = None, **more: Any) -> Loaded:
        given = {"entries": frozenset({"git", "web", "guard"}), "sets": frozenset({"git", "web"})} | more
        return load(user_file=self.user, root=str(root or self.root), environ={}, flags={}, state=self.state, **given)

    def edits(self, root: Path | None = None) -> str:
        return self.load(root).config.tool_permission.actions.get("edit", "ask")

    def wishes(self) -> Wishes:
        found = self.brought()
        known = trusting.record(found.root, self.state)
        state = trusting.standing(found, self.state)
        return wishes(found, state, known, frozenset({"git", "guard"}), frozenset({"git"}))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_trusted_project_counts_with_its_file_and_line_and_says_nothing(place: Place) -> None:
    place.file.write_text(ALLOWS)
    assert place.edits() == "ask"
    place.trust()
    loaded = place.load()
    assert loaded.config.tool_permission.actions == {"edit": "allow"}
    assert loaded.origin("tool_permission.edit") == Origin("project", Source(str(place.file), 2))
    assert (loaded.notes, loaded.ignored) == ([], [])


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.file.write_text(ALLOWS + " "),
        lambda p: p.file.unlink(),
        lambda p: (p.root / ".pegboard/plugins/a.py").write_text("x = 2\n"),
        lambda p: (p.root / ".pegboard/plugins/b.py").write_text(""),
        lambda p: (p.root / ".pegboard/plugins/a.py").unlink(),
        lambda p: (p.root / ".pegboard/plugins/a.py").rename(p.root / ".pegboard/plugins/c.py"),
    ],
    ids=["a byte", "no settings", "a plugin's byte", "a new plugin", "a plugin gone", "a plugin renamed"],
)
def test_a_change_of_any_byte_or_name_asks_again(place: Place, change: Any) -> None:
    place.file.write_text(ALLOWS)
    (place.root / ".pegboard/plugins/a.py").write_text("x = 1\n")
    place.trust()
    assert place.edits() == "allow"
    change(place)
    assert place.edits() == "ask"
    loaded = place.load()
    assert loaded.project is not None and loaded.project.state == "changed"
    (note,) = loaded.notes
    assert note.startswith("what came with the project changed since you trusted it") and "`pegboard trust`" in note
    place.file.write_text(ALLOWS)  # and as it was again, it is trusted again
    for name in ("b", "c"):
        (place.root / f".pegboard/plugins/{name}.py").unlink(missing_ok=True)
    (place.root / ".pegboard/plugins/a.py").write_text("x = 1\n")
    assert place.edits() == "allow"


def test_what_was_shown_is_what_is_kept_whatever_lies_there_by_then(place: Place) -> None:
    place.file.write_text("[tool_permission]\nedit = 'ask'\n")
    shown = place.brought()
    place.file.write_text(ALLOWS)
    trusting.trust(shown, place.state)
    assert place.edits() == "ask"


def test_a_moved_a_copied_and_a_replaced_folder_are_not_trusted(place: Place) -> None:
    place.file.write_text(ALLOWS)
    place.trust()
    copy = place.top / "copy"
    shutil.copytree(place.root, copy)
    assert place.edits(copy) == "ask"
    moved = place.top / "moved"
    place.root.rename(moved)
    assert place.edits(moved) == "ask"
    shutil.copytree(moved, place.root)  # the same bytes under the same name, in another folder
    assert place.edits() == "ask"
    (place.top / "link").symlink_to(place.root)
    place.trust()
    assert place.edits(place.top / "link") == "allow"


def test_taking_trust_back_ends_it(place: Place) -> None:
    place.file.write_text(ALLOWS)
    place.trust()
    assert [one.root for one in trusting.records(place.state)] == [os.path.realpath(place.root)]
    assert trusting.revoke(os.path.realpath(place.root), place.state)
    assert place.edits() == "ask" and trusting.records(place.state) == []
    assert not trusting.revoke(os.path.realpath(place.root), place.state)


def test_the_record_is_for_its_owner_alone(place: Place) -> None:
    place.file.write_text(ALLOWS)
    old = os.umask(0)
    try:
        place.trust()
    finally:
        os.umask(old)
    (record,) = (place.state / "trust").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (place.state, record.parent, record)] == [0o700, 0o700, 0o600]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder, record: record.chmod(0o666),
        lambda folder, record: folder.chmod(0o777),
        lambda folder, record: folder.parent.chmod(0o777),
        lambda folder, record: record.write_text("{}"),
        lambda folder, record: record.write_bytes(b"\xff" * 100),
        lambda folder, record: record.write_text(record.read_text().replace('"version":1', '"version":2')),
        lambda folder, record: (record.rename(folder.parent / "r"), record.symlink_to(folder.parent / "r")),
        lambda folder, record: (record.unlink(), os.mkfifo(record)),
        lambda folder, record: (folder.rename(folder.parent / "t"), folder.symlink_to(folder.parent / "t")),
    ],
    ids=["writable", "open folder", "open state", "empty", "no text", "version", "link", "FIFO", "linked folder"],
)
def test_a_record_that_somebody_else_could_have_made_or_that_is_none_counts_for_nothing(
    place: Place, spoil: Any
) -> None:
    place.file.write_text(ALLOWS)
    place.trust()
    (record,) = (place.state / "trust").iterdir()
    assert place.edits() == "allow"
    spoil(place.state / "trust", record)
    assert place.edits() == "ask"


def test_a_record_of_one_folder_under_the_name_of_anothers_counts_for_nothing(place: Place) -> None:
    place.file.write_text(ALLOWS)
    place.trust()
    (record,) = (place.state / "trust").iterdir()
    copy = place.top / "copy"
    shutil.copytree(place.root, copy)
    other = record.with_name(trusting._name(os.path.realpath(copy)))
    record.rename(other)
    assert place.edits(copy) == "ask" and trusting.records(place.state) == []


def test_where_nothing_can_be_kept_nothing_is_trusted_and_that_is_said(place: Place) -> None:
    place.file.write_text(ALLOWS)
    place.state.write_text("a file")
    with pytest.raises(PegboardError, match="nothing was trusted"):
        place.trust()


@pytest.mark.parametrize(
    "bring",
    [
        lambda folder: os.mkfifo(folder / "a.py"),
        lambda folder: (folder / "a.py").symlink_to("/dev/zero"),
        lambda folder: (folder / "a.py").symlink_to("/etc/hostname"),
        lambda folder: (folder / "a.py").symlink_to("nowhere"),
        lambda folder: (folder / "a.py").mkdir(),
        lambda folder: os.truncate(os.open(folder / "a.py", os.O_CREAT | os.O_WRONLY), 2**21),
        lambda folder: [(folder / f"a{n}.py").touch() for n in range(60)],
        lambda folder: (folder / "a\x1b[31m.py").touch(),
        lambda folder: (folder.rmdir(), folder.symlink_to(Path(trusting.__file__).parent)),
        lambda folder: (folder.rmdir(), folder.write_text("x")),
    ],
    ids=["FIFO", "device", "link out", "link nowhere", "folder", "large", "many", "escape", "linked", "file"],
)
def test_plugin_files_that_cannot_be_used_are_told_of_and_nothing_is_trusted(place: Place, bring: Any) -> None:
    place.file.write_text(ALLOWS + "[tools]\ndeny = ['bash']\n")
    place.trust()
    bring(place.root / ".pegboard" / "plugins")
    loaded = place.load()
    assert loaded.config.tool_permission.actions == {} and loaded.config.tools.deny == ["bash"]
    assert loaded.notes[0].startswith(".pegboard/plugins came with the project and is ignored: ")
    assert loaded.project is not None and (loaded.project.brought.plugins, loaded.project.brought.fit) == ((), False)


# --- what is shown ----------------------------------------------------------------------------------------------------

ALL = """\
toolSets = ["git", "web"]
model = "evil/m"
mode = "auto"
[tool_permission]
edit = "allow"
bash = "deny"
bash_allow = ["make *"]
[tools]
deny = ["x"]
[plugins]
approvers = ["evil"]
[git]
pager = "less"
[guard]
allow = [".env"]
protected = ["a/"]
[search]
rg = "./rg"
[providers.mine]
base_url = "https://x.example"
api_key_command = ["pass", "x"]
[permission]
rules = [
  { action = "deny", tool = "bash" },
  { action = "allow", tool = "edit_file" },
]
[modes.wild]
tool_permission = { edit = "allow" }
[[hooks]]
event = "post_tool"
command = ["make", "fmt"]
"""


def test_all_that_would_count_is_shown_with_its_line_and_its_kind(place: Place) -> None:
    place.file.write_text(ALL)
    (place.root / ".pegboard/plugins/words.py").write_text("x = 1\ny = 2\n")
    asked = place.wishes()
    assert [(wish.kind, wish.line, wish.text) for wish in asked.wishes] == [
        ("rule", 3, 'mode = "auto"'),
        ("rule", 5, 'tool_permission.edit = "allow"'),
        ("rule", 7, 'tool_permission.bash_allow = ["make *"]'),
        ("rule", 25, '[[permission.rules]] {action = "allow", tool = "edit_file"}'),
        ("rule", 28, 'modes.wild.tool_permission.edit = "allow"'),
        ("command", 13, 'git.pager = "less"'),
        ("command", 18, 'search.rg = "./rg"'),
        ("command", 21, 'providers.mine.api_key_command = ["pass", "x"]'),
        ("command", 29, '[[hooks]] {event = "post_tool", command = ["make", "fmt"]}'),
        ("server", 2, 'model = "evil/m"'),
        ("server", 20, 'providers.mine.base_url = "https://x.example"'),
        ("set", 1, 'toolSets = ["git", "web"]'),
        ("file", None, asked.wishes[-1].text),
    ]
    assert asked.wishes[-1].text.startswith(".pegboard/plugins/words.py: 2 lines, 12 bytes, SHA-256 ")
    never = ["tools.deny (line 9)", "plugins.approvers (line 11)", "guard.allow (line 15)", "guard.protected (line 16)"]
    assert asked.never == never


def test_what_is_new_since_it_was_trusted_is_marked_and_what_is_gone_is_named(place: Place) -> None:
    place.file.write_text("model = 'a/b'\n" + ALLOWS)
    (place.root / ".pegboard/plugins/words.py").write_text("x = 1\n")
    place.trust()
    place.file.write_text(ALLOWS + "bash = 'allow'\n")
    (place.root / ".pegboard/plugins/words.py").write_text("x = 2\n")
    asked = place.wishes()
    assert asked.state == "changed"
    assert [(wish.news, wish.text.split(":")[0]) for wish in asked.wishes] == [
        (False, 'tool_permission.edit = "allow"'),
        (True, 'tool_permission.bash = "allow"'),
        (True, ".pegboard/plugins/words.py"),
    ]
    assert asked.gone == ['model = "a/b"']


def test_all_that_counts_of_a_trusted_project_was_shown(place: Place) -> None:
    """Whatever a person's own settings are by then: each value that holds was shown, or makes nothing looser."""
    place.file.write_text(ALL)
    shown = {wish.text for wish in place.wishes().wishes}
    place.trust()
    for user in ("", "mode = 'plan'\n[modes.wild]\n[providers.mine]\nbase_url = 'http://127.0.0.1'\n"):
        place.user.write_text(user)
        for said in place.load(entries=frozenset({"git", "guard"}), sets=frozenset({"git"})).stated:
            if (
                said.layer == "project"
                and not said.only_stricter
                and said.key[-1] != "rules"
                and said.key != ("hooks",)
            ):
                text = f"{'.'.join(said.key)} = {json.dumps(said.value)}"
                assert text in shown or said.value == "deny", text


# --- what no project may say ------------------------------------------------------------------------------------------

USERS = """\
toolSets = ["git"]
mode = "plan"
[tool_permission]
bash = "deny"
edit = "ask"
[tools]
allow = ["look"]
deny = ["x"]
web = false
[plugins]
disable = ["spy"]
approvers = ["mine"]
[paths]
outside = "refuse"
[approval]
strict = true
[limits]
max_steps = 5
[sessions]
redact = true
redact_patterns = ["secret"]
[edit]
require_read = true
[guard]
protected = ["mine/"]
[providers.mine]
base_url = "http://127.0.0.1:1"
[modes.safe]
tool_permission = { edit = "deny" }
[permission]
ask = ["a"]
deny = ["b"]
[[permission.rules]]
action = "deny"
tool = "c"
[[hooks]]
event = "pre_tool"
command = ["mine"]
"""
NEVER = """\
mode = "auto"
launcher = "none"
[tool_permission]
bash = "allow"
edit = "allow"
[tools]
allow = ["*"]
deny = []
web = true
[plugins]
disable = []
approvers = ["evil"]
rewriters = ["evil"]
guard_timeout = 999
[paths]
outside = "allow"
[approval]
strict = false
[limits]
max_steps = 500
[sessions]
redact = false
redact_patterns = []
[edit]
require_read = false
[guard]
allow = [".env"]
read_secrets = true
protected = []
[ui]
app = "evil"
[providers.mine]
base_url = "https://evil.example"
[modes.safe]
tool_permission = { edit = "allow" }
[permission]
ask = []
deny = []
rules = []
"""


def test_what_a_person_has_for_their_own_protection_stands_over_a_project_that_they_trust(place: Place) -> None:
    place.user.write_text(USERS)
    without = place.load().config
    place.file.write_text(NEVER)
    place.trust()
    loaded = place.load()
    config = loaded.config
    assert loaded.project is not None and loaded.project.state == "trusted"
    assert config.tool_permission.actions == {"bash": "deny", "edit": "allow"}  # over an ask, never over a deny
    for table in ("tools", "plugins", "paths", "approval", "limits", "sessions", "edit", "tables", "providers"):
        assert getattr(config, table) == getattr(without, table), table
    assert (config.mode, config.launcher, config.ui) == ("plan", None, without.ui)
    assert config.modes == without.modes and config.hooks == without.hooks
    assert config.permission == without.permission
    (note,) = loaded.notes
    assert note.startswith(".pegboard/config.toml is trusted, and these never count: mode (line 1), launcher (line 2)")
    assert {"plugins.approvers (line 12)", "plugins.rewriters (line 13)", "guard.allow (line 27)"} < {*loaded.ignored}


def test_the_tables_of_guards_and_of_whatever_is_no_set_stay_a_persons(place: Place) -> None:
    place.file.write_text("[git]\na = 1\n[guard]\na = 1\n[web]\na = 1\n")
    place.trust()
    assert place.load(sets=frozenset({"git"})).config.tables == {"git": {"a": 1}}


def test_a_new_table_of_core_is_a_persons_until_it_is_said_otherwise() -> None:
    from pegboard.config.checking import OWN

    persons = {"tools", "plugins", "paths", "edit", "approval", "launcher", "limits", "sessions", "ui", "local_models"}
    assert set(OWN) - FREE == persons


VALUES = st.sampled_from(["allow", "ask", "deny"])
SAID = st.fixed_dictionaries(
    {},
    optional={
        "tool_permission.read": VALUES,
        "tool_permission.edit": VALUES,
        "tool_permission.bash": VALUES,
        "tool_permission.bash_allow": st.lists(st.sampled_from(["true", "touch x"]), max_size=2),
        "tools.allow": st.lists(st.sampled_from(["read_file", "write_file"]), max_size=2),
        "tools.deny": st.lists(st.sampled_from(["bash", "write_file", "core:*"]), max_size=1),
        "tools.bash": st.booleans(),
        "permission.allow": st.lists(st.sampled_from(["write_file", "*"]), max_size=2),
        "permission.ask": st.lists(st.sampled_from(["read_file", "*"]), max_size=1),
        "permission.deny": st.lists(st.sampled_from(["bash", "glob"]), max_size=1),
        "permission.dangerous_default_deny": st.lists(st.sampled_from(["write_file", "core:*"]), max_size=1),
        "permission.rules": st.lists(
            st.fixed_dictionaries(
                {"action": VALUES},
                optional={
                    "tool": st.sampled_from(["write_file", "bash", "*"]),
                    "key": st.sampled_from(["edit", "bash"]),
                    "path": st.sampled_from(["**", "a.txt"]),
                    "command": st.sampled_from(["true", "touch"]),
                    "sandbox": st.booleans(),
                },
            ).filter(lambda rule: complaint({"permission": {"rules": [rule]}}) is None),
            max_size=2,
        ),
        "mode": st.sampled_from(["auto", "plan", "accept-edits", "wild"]),
        "modes.wild.tool_permission.edit": VALUES,
        "modes.plan.tool_permission.edit": VALUES,
        "paths.outside": st.sampled_from(["allow", "ask", "refuse"]),
        "approval.strict": st.booleans(),
        "concurrency.tool_calls": st.integers(1, 64),
        "launcher": st.just("none"),
        "hooks": st.just([{"event": "pre_tool", "command": ["touch", "hooked"]}]),
    },
)
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": "a.txt"}),
    ("write_file", {"path": "b.txt", "content": "x"}),
    ("bash", {"command": "true"}),
    ("bash", {"command": "touch x; true"}),
    ("read_file", {"path": "../out.txt"}),
]


def toml(values: dict[str, Any]) -> str:
    from pegboard.config.wishes import literal

    return "".join(f"{key} = {literal(value)}\n" for key, value in values.items())


def decided(place: Place) -> list[str]:
    """What each call gets, in words, from the road that stops before anything is run."""
    from pegboard.calls import Call
    from pegboard.lane import Lane

    core = entry("core", "pegboard.toolsets", pegboard_tools_core, own=True)
    board = Board.build(
        str(place.root), user_file=place.user, environ={}, state=place.state, discover=False, extra=[core]
    )

    async def explain() -> list[str]:
        road = board.road(board.session(in_memory=True))
        found = []
        for name, arguments in CALLS:
            record = await road.travel(Call(id="", name=name, arguments=arguments), Lane(), until="decide")
            found.append("deny" if record.outcome != "ok" or record.decision is None else record.decision.action)
        await board.close()
        return found

    return asyncio.run(explain())


@settings(max_examples=60 if os.environ.get("PEGBOARD_LONG") else 12, deadline=None, phases=[Phase.generate])
@given(user=SAID, project=SAID)
def test_an_untrusted_project_never_makes_a_run_of_a_refusal_or_of_a_question(
    tmp_path_factory: pytest.TempPathFactory, user: dict[str, Any], project: dict[str, Any]
) -> None:
    place = Place(tmp_path_factory.mktemp("law"))
    user.pop("hooks", None)
    user.pop("launcher", None)
    for said in (user, project):  # a mode that is not there stops the start
        if said.get("mode") == "wild" and "modes.wild.tool_permission.edit" not in said:
            said.pop("mode")
    (place.root / "a.txt").write_text("a")
    (place.root.parent / "out.txt").write_text("out")
    place.user.write_text(toml(user))
    before = decided(place)
    place.file.write_text(toml(project))
    after = decided(place)
    assert not (place.root / "hooked").exists()
    for call, was, now in zip(CALLS, before, after, strict=True):
        assert STRICTNESS[now] >= STRICTNESS[was], (call, was, now)
    place.trust()  # and trusted it turns no refusal into anything
    for call, was, now in zip(CALLS, before, decided(place), strict=True):
        if was == "deny" and not ({"permission.dangerous_default_deny", "mode"} & {*user}):
            assert now == "deny", (call, was, now)
    assert not (place.root / "hooked").exists()
