"""A command that runs unasked because it only reads is held to that, even where the table that says so is wrong."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import Context, Runs, tool
from pegboard.board import Board
from pegboard.calls import Call, Record
from pegboard.desk import Answers
from pegboard.kit import landlock
from pegboard.kit.held import places
from pegboard.lane import Lane
from pegboard.policy.shell import tables
from pegboard.road import Road
from pegboard.testing.plugged import module_entry

if not landlock.available():
    pytest.skip("the system has no Landlock of version 3 or newer", allow_module_level=True)

SECRET = "-----PRIVKEY-----"


@tool(name="bash")
async def bash(command: Annotated[str, Runs("A command line")], ctx: Context) -> str:
    """Run a line."""
    done = await ctx.run(["bash", "-c", command])
    return f"{done.exit_code} {done.stdout.decode()}{done.stderr.decode()}"


class Desk:
    """A board over a workspace beside a home folder that holds a secret."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.root, self.home, self.roads = folder / "work", folder / "home", list[Road]()
        self.root.mkdir(exist_ok=True)
        self.home.mkdir(exist_ok=True)
        (self.home / "secret").write_text(SECRET)
        (self.home / ".gitconfig").write_text("[user]\nname = Ada\n")
        (self.root / "a").write_text("hello\n")
        (folder / "config.toml").write_text(settings)
        self.board = Board.build(
            str(self.root),
            user_file=folder / "config.toml",
            environ={"PATH": os.environ["PATH"], "HOME": str(self.home)},
            state=folder / "state",
            extra=[module_entry("test", "pegboard.toolsets", "pegboard_tools", [bash], own=True)],
            discover=False,
        )

    def road(self, answers: Answers = "headless") -> Road:
        return self.board.road(self.board.session(in_memory=True), answers=answers)

    async def run(self, line: str, road: Road | None = None) -> Record:
        road = road or self.road()
        return await road.travel(Call(id="", name="bash", arguments={"command": line}, caller="program"), Lane())


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of commands that takes every command for one that only reads."""
    monkeypatch.setattr(tables, "reads_by", lambda *_, **__: "anything")
    monkeypatch.setattr(tables, "risk_of", lambda *_, **__: None)


@pytest.fixture
def server() -> Iterator[tuple[int, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        yield listening.getsockname()[1], listening


@pytest.mark.parametrize(
    "line",
    [
        "touch new",
        "rm a",
        "mv a b",
        "ln a b",
        "mkdir d",
        "cp a b",
        "cp a {home}/b",
        "truncate -s 0 a",
        "cp a {copied}",
        "cat {home}/secret",
        "ls {home}",
        "cat link",
        pytest.param(
            "kill -0 {pid}",
            marks=pytest.mark.skipif(
                landlock.version() < 6, reason="the system's Landlock does not know of signals (version 6)"
            ),
        ),
    ],
)
async def test_a_table_that_is_wrong_lets_nothing_be_written_read_elsewhere_or_signalled(
    tmp_path: Path, wrong: None, line: str
) -> None:
    desk = Desk(tmp_path)
    (desk.root / "link").symlink_to(desk.home / "secret")

    copied = Path(tempfile.gettempdir(), f"pegboard-held-{os.getpid()}-{tmp_path.name}")
    made = await desk.run(line.format(home=desk.home, pid=os.getpid(), copied=copied))

    assert made.decision is not None and made.decision.rule == "tool_permission.bash_read_only", made
    assert made.outcome == "ok" and not made.text.startswith("0 ") and SECRET not in made.text, made
    assert sorted(path.name for path in desk.root.iterdir()) == ["a", "link"]
    assert (desk.root / "a").read_text() == "hello\n"
    assert not (desk.home / "b").exists() and not copied.exists()


@pytest.mark.skipif(landlock.version() < 4, reason="the system's Landlock does not know of TCP (version 4)")
async def test_nor_is_a_server_reached(tmp_path: Path, wrong: None, server: tuple[int, socket.socket]) -> None:
    port, listening = server
    connect = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'"

    made = await Desk(tmp_path).run(connect)

    assert made.decision is not None and made.decision.action == "allow" and not made.text.startswith("0 "), made
    with pytest.raises(TimeoutError):
        listening.accept()


async def test_what_was_stopped_says_so_and_the_same_call_once_more_asks(tmp_path: Path, wrong: None) -> None:
    desk = Desk(tmp_path)
    road = desk.road()

    first, again, other = [await desk.run(line, road) for line in ("touch new", "touch new", "cat a")]

    assert "held to reading" in first.text and "the same call once more asks" in first.text
    assert again.decision is not None and (again.outcome, again.decision.action) == ("blocked", "ask")
    assert again.decision.rule == "reading: it was stopped before"
    assert other.text == "0 hello\n"


async def test_in_a_pipe_too_what_was_stopped_says_so(tmp_path: Path, wrong: None) -> None:
    assert "held to reading" in (await Desk(tmp_path).run("touch new | cat")).text


@pytest.mark.parametrize(
    "settings", ['[tool_permission]\nbash = "allow"\n', '[tool_permission]\nbash_allow = ["touch"]\n']
)
async def test_what_a_rule_of_the_persons_allows_is_not_held(tmp_path: Path, wrong: None, settings: str) -> None:
    desk = Desk(tmp_path, settings)

    assert (await desk.run("touch new")).text == "0 " and (desk.root / "new").exists()


async def test_nor_what_the_person_answered_yes_to(tmp_path: Path) -> None:
    desk = Desk(tmp_path, '[tool_permission]\nbash_read_only = "ask"\n')

    assert (await desk.run("touch new", desk.road("--yes"))).text == "0 " and (desk.root / "new").exists()


async def test_one_command_that_another_rule_allows_frees_the_line(tmp_path: Path) -> None:
    desk = Desk(tmp_path, '[tool_permission]\nbash_allow = ["touch"]\n')

    assert (await desk.run("cat a && touch new")).text == "0 hello\n" and (desk.root / "new").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ls", "a\nbig"),
        ("git status --short", "?? big"),
        ("git log --format=%s | head", "one"),
        ("grep -rn hello .", "./a:1:hello"),
        ("python3 --version", "Python 3"),
        ("sort -n -S 100K big | tail -1", "40000"),
        ("cat <<'EOT'\nhi\nEOT", "hi"),
        ("cat <<'EOT' | tail -c 5\n" + "x" * 5000 + "\nlast\nEOT", "last"),
    ],
)
async def test_what_reads_works_as_ever(tmp_path: Path, line: str, says: str) -> None:
    desk = Desk(tmp_path)
    (desk.root / "big").write_text("".join(f"{number}\n" for number in range(40_000, 0, -1)))
    first = f"cd {desk.root} && export HOME={desk.home} && git init -q . && git add a"
    assert os.system(f"{first} && git -c user.email=a@b commit -qm one") == 0

    made = await desk.run(line)

    assert made.decision is not None and made.decision.action == "allow", made
    assert says in made.text and made.text.startswith("0 ") and "held" not in made.text, made


async def test_temporary_files_have_a_folder_of_their_own_that_goes_with_the_program(
    tmp_path: Path, wrong: None
) -> None:
    made = await Desk(tmp_path).run(
        'python3 -c \'import os; print(os.environ["TMPDIR"]); open(os.environ["TMPDIR"] + "/x", "x"); print("made")\''
    )

    code, folder, listed = made.text.split()
    assert (code, listed) == ("0", "made") and not Path(folder).exists() and folder != os.environ.get("TMPDIR")


def test_a_file_that_says_it_is_git_opens_no_other_folder(tmp_path: Path) -> None:
    root, home = tmp_path / "work", tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    root.mkdir()
    for told in (home / ".ssh", home):
        (root / ".git").write_text(f"gitdir: {told}\n")
        assert str(told) not in places(str(root), {"HOME": str(home), "PATH": f"{home}:/bin"})


async def test_a_linked_worktree_is_read_with_its_repository(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    made = tmp_path / "main"
    ident = "-c user.email=a@b -c user.name=a"
    first = f"git init -q {made} && cd {made} && git {ident} commit -q --allow-empty -m one"
    assert os.system(f"{first} && git worktree add -q {tmp_path}/w") == 0
    (desk.root / ".git").write_text((tmp_path / "w" / ".git").read_text())
    found: Any = places(str(tmp_path / "w"), {"PATH": "/bin"})

    assert {str(made / ".git"), str(made / ".git" / "worktrees" / "w")} <= {*found}
    assert str(made / ".git") not in places(str(desk.root), {"PATH": "/bin"}), "it does not lead back"
