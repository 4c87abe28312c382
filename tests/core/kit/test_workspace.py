"""The door: what lies beneath the root is opened, everything else is refused, whatever links and races do."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import Deny, TouchKind
from pegboard.errors import DoorError
from pegboard.kit import beneath, openat2
from pegboard.kit.beneath import Beneath
from pegboard.kit.links import other_names
from pegboard.kit.names import given as as_given
from pegboard.kit.names import shown
from pegboard.kit.workspace import Place, Workspace

SECRET = b"TOPSECRET\n"


@pytest.fixture(params=["openat2", "walk", "no /proc"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with a file, a folder and a secret beside it; every test holds for each way of opening."""
    if request.param != "openat2":
        monkeypatch.setattr(openat2, "name", lambda folder, path: None)
    if request.param == "no /proc":
        monkeypatch.setattr(beneath, "real_path", lambda fd: None)
    return build(tmp_path)


def build(top: Path) -> Path:
    app = top / "app"
    (app / "sub").mkdir(parents=True)
    (app / "a.txt").write_bytes(b"inside\n")
    (app / "sub" / "b.txt").write_bytes(b"inside b\n")
    for beside in ("outside", "app-evil"):
        (top / beside).mkdir()
        (top / beside / "secret.txt").write_bytes(SECRET)
    return app


def refusal(do: Callable[[], object]) -> DoorError:
    with pytest.raises(DoorError) as caught:
        do()
    return caught.value


def reason(workspace: Workspace, path: str) -> str:
    return refusal(lambda: workspace.read_bytes(path)).reason


class TestInside:
    @pytest.mark.parametrize(
        "path",
        [
            "a.txt",
            "./a.txt",
            "sub/../a.txt",
            "sub//..//./a.txt",
            "{root}/a.txt",
            "/{root}/./sub/../a.txt",
            "../app/a.txt",
            "{root}/../app/a.txt",
        ],
    )
    def test_one_file_has_many_spellings_and_one_place(self, root: Path, path: str) -> None:
        workspace = Workspace(str(root))
        path = path.format(root=root)
        assert workspace.read_bytes(path) == b"inside\n"
        assert workspace.place(path) == Place("a.txt")

    @pytest.mark.parametrize("name", ["...", "c:d.txt", "[id].tsx", "-rf", "~", "$HOME", "%2e%2e", "a b", "a\nb", "é"])
    def test_letters_that_mean_something_elsewhere_are_plain_here(self, root: Path, name: str) -> None:
        (root / name).write_bytes(b"plain\n")
        assert Workspace(str(root)).read_bytes(name) == b"plain\n"

    def test_links_that_stay_inside_are_followed(self, root: Path) -> None:
        (root / "file").symlink_to("sub/b.txt")
        (root / "folder").symlink_to("sub")
        (root / "sub" / "up").symlink_to("../a.txt")
        (root / "absolute").symlink_to(root / "sub")
        workspace = Workspace(str(root))
        assert workspace.read_bytes("file") == workspace.read_bytes("folder/b.txt") == b"inside b\n"
        assert workspace.read_bytes("folder/up") == b"inside\n"
        assert workspace.read_bytes("absolute/b.txt") == b"inside b\n"
        assert workspace.place("absolute/up") == Place("a.txt")

    def test_the_root_may_be_a_link_and_absolute_links_may_spell_it_so(self, root: Path) -> None:
        link = root.parent / "rootlink"
        link.symlink_to("app")
        (root / "absolute").symlink_to(link / "sub" / "b.txt")
        workspace = Workspace(str(link))
        assert workspace.root == str(root)
        assert workspace.read_bytes(f"{link}/a.txt") == workspace.read_bytes(f"{root}/a.txt") == b"inside\n"
        assert workspace.read_bytes("absolute") == b"inside b\n"

    def test_forty_links_are_followed_and_no_more(self, root: Path) -> None:
        (root / "l0").symlink_to("a.txt")
        for number in range(1, 41):
            (root / f"l{number}").symlink_to(f"l{number - 1}")
        workspace = Workspace(str(root))
        assert workspace.read_bytes("l39") == b"inside\n"
        assert reason(workspace, "l40") == "loop"

    def test_a_place_is_known_of_what_is_not_there_yet(self, root: Path) -> None:
        (root / "folder").symlink_to("sub")
        (root / "dangling").symlink_to("sub/new.txt")
        workspace = Workspace(str(root))
        assert workspace.place("folder/n/m.txt") == Place("sub/n/m.txt")
        assert workspace.place("dangling") == Place("sub/new.txt")
        assert workspace.place("nosuch/../.git/config") == Place(".git/config")
        assert workspace.place("a.txt/../sub") == Place("sub")
        assert workspace.place(".") == Place(".")

    def test_listing_tells_kinds_without_opening(self, root: Path) -> None:
        os.mkfifo(root / "pipe")
        (root / "link").symlink_to("../outside")
        found = {entry.name: entry.kind for entry in Workspace(str(root)).scan(".")}
        assert found == {"a.txt": "file", "link": "link", "pipe": "special", "sub": "folder"}

    def test_a_file_is_bounded_on_request(self, root: Path) -> None:
        workspace = Workspace(str(root))
        assert workspace.read_bytes("a.txt", 7) == b"inside\n"
        assert refusal(lambda: workspace.read_bytes("a.txt", 6)).reason == "too_large"


ESCAPES = [
    "../outside/secret.txt",
    "../../etc/passwd",
    "a/../../secret",
    "nosuch/../../outside/secret.txt",
    "sub/./../.././outside/secret.txt",
    "..//outside///secret.txt",
    "{top}/outside/secret.txt",
    "//{top}/outside/secret.txt",
    "{root}/../outside/secret.txt",
    "{root}/sub/../../outside/secret.txt",
    "{top}/app-evil/secret.txt",
    "../app/../outside/secret.txt",
    "..",
    "/",
    "/etc/passwd",
    "/proc/self/environ",
    "/proc/self/cwd/../outside/secret.txt",
    "/dev/stdin",
    "/dev/tty",
]


class TestOutside:
    @pytest.mark.row("S-088", "S-089")
    @pytest.mark.parametrize("path", ESCAPES)
    def test_a_path_that_climbs_out_is_refused_with_no_filesystem_call(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
    ) -> None:
        root = build(tmp_path)
        path = path.format(top=tmp_path, root=root)
        workspace = Workspace(str(root))
        calls: list[str] = []
        for name in ("open", "stat", "lstat", "readlink", "scandir", "listdir", "access", "getcwd", "fstat"):
            monkeypatch.setattr(os, name, lambda *a, name=name, **k: calls.append(name))
        monkeypatch.setattr(openat2, "name", lambda *a: calls.append("openat2"))
        errors = [refusal(lambda: workspace.read_bytes(path)), refusal(lambda: workspace.scan(path))]
        place = workspace.place(path)
        monkeypatch.undo()
        assert calls == []
        for error in errors:
            assert error.reason == "escapes"
            assert str(error).startswith(f"Path escapes workspace: {path}")
        assert place.outside and os.path.isabs(place.at)

    @pytest.mark.row("S-088")
    @pytest.mark.parametrize(
        ("name", "target", "path"),
        [
            ("leak", "../outside/secret.txt", "leak"),
            ("leak", "{top}/outside/secret.txt", "leak"),
            ("e", "../app-evil", "e/secret.txt"),
            ("d", "../outside", "d/../outside/secret.txt"),
            ("d", "sub/../../outside", "d/secret.txt"),
            ("p", "/proc/self/root", "p{top}/outside/secret.txt"),
            ("p", "/proc/self/cwd", "p/secret.txt"),
            ("d", "/", "d{top}/outside/secret.txt"),
            ("d", "../nosuch", "d/x.txt"),
            ("d", "{top}/app-evil/../app/../outside", "d/secret.txt"),
        ],
    )
    def test_a_link_that_leads_out_is_refused(self, root: Path, name: str, target: str, path: str) -> None:
        top = root.parent
        (root / name).symlink_to(target.format(top=top))
        path = path.format(top=top)
        workspace = Workspace(str(root))
        error = refusal(lambda: workspace.read_bytes(path))
        assert error.reason == "escapes" and str(error).startswith(f"Path escapes workspace: {path}")
        assert workspace.place(path).outside

    def test_dots_go_up_from_where_a_link_led(self, root: Path) -> None:
        (root.parent / "outside" / "deep").mkdir()
        (root / "d").symlink_to("../outside/deep")
        assert reason(Workspace(str(root)), "d/../secret.txt") == "escapes"

    def test_outside_can_be_allowed(self, root: Path) -> None:
        (root / "leak").symlink_to("../outside/secret.txt")
        workspace = Workspace(str(root), outside="allow")
        outside = root.parent / "outside" / "secret.txt"
        for path in ("leak", "../outside/secret.txt", str(outside)):
            assert workspace.read_bytes(path) == SECRET
            assert workspace.place(path) == Place(str(outside), outside=True)
        assert workspace.place("sub/../a.txt") == Place("a.txt")
        with workspace.open("a.txt") as opened:
            assert opened.at == "a.txt"

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("", "name"),
            ("a\0b", "name"),
            ("\ud800", "name"),
            ("x" * 300, "name"),
            (" ", "missing"),
            ("nosuch", "missing"),
            ("~/.ssh/id_rsa", "missing"),
            ("A.TXT", "missing"),
            ("․․/outside/secret.txt", "missing"),
            ("..\u200b/outside/secret.txt", "missing"),
            ("C:\\Windows\\win.ini", "missing"),
            ("a.txt/", "missing"),
            ("a.txt/.", "missing"),
            ("a.txt/../a.txt", "missing"),
            (".", "folder"),
            ("sub", "folder"),
        ],
    )
    def test_what_is_no_file_gets_a_plain_reason(self, root: Path, path: str, why: str) -> None:
        assert reason(Workspace(str(root)), path) == why

    @given(st.lists(st.sampled_from(["..", ".", "", "sub", "link", "up", "out", "a.txt", "nosuch"]), max_size=8))
    @settings(deadline=None, max_examples=150)
    def test_the_kernel_and_the_walk_agree_and_never_lead_out(
        self, tmp_path_factory: pytest.TempPathFactory, parts: list[str]
    ) -> None:
        root = build(tmp_path_factory.mktemp("w"))
        (root / "link").symlink_to("sub")
        (root / "sub" / "up").symlink_to("..")
        (root / "out").symlink_to("..")
        path = "/".join(parts) or "."
        below = Beneath(str(root))
        relative = below.relative(path)
        if relative is None:
            return
        answers = []
        for find in (below.find, below._find_slow):
            try:
                fd, at = find(relative)
                os.close(fd)
                answers.append(at)
            except (OSError, beneath.Escapes) as error:
                answers.append(type(error).__name__)
        assert answers[0] == answers[1]
        if not answers[0].endswith(("Error", "Escapes")):
            assert os.path.realpath(root / path) == os.path.normpath(root / answers[0])


class TestSpecialFiles:
    @pytest.mark.timeout(10)
    def test_fifos_sockets_and_devices_are_named_and_never_waited_for(self, root: Path) -> None:
        os.mkfifo(root / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            os.chdir(root)
            server.bind("sock")
            os.chdir(here)
            workspace = Workspace(str(root))
            for name, word in (("pipe", "FIFO"), ("sock", "socket")):
                error = refusal(lambda name=name: workspace.read_bytes(name))
                assert error.reason == "special" and word in str(error)
                assert workspace.place(name) == Place(name)

    def test_looking_at_a_fifo_does_not_wake_its_writer(self, tmp_path: Path) -> None:
        root = build(tmp_path)
        os.mkfifo(root / "pipe")
        woken = threading.Event()

        def write() -> None:
            fd = os.open(root / "pipe", os.O_WRONLY)
            woken.set()
            os.close(fd)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        time.sleep(0.05)
        refusal(lambda: Workspace(str(root)).read_bytes("pipe"))
        assert not woken.wait(0.1)
        os.close(os.open(root / "pipe", os.O_RDONLY | os.O_NONBLOCK))
        writer.join(60)


def protect(*names: str) -> Callable[[TouchKind, str], Deny | None]:
    def check(kind: TouchKind, path: str) -> Deny | None:
        return Deny("test: names", f"{path} is protected.") if path in names else None

    return check


class TestChecks:
    def test_they_see_the_real_path_so_a_link_or_another_spelling_does_not_help(self, root: Path) -> None:
        (root / ".env").write_bytes(SECRET)
        (root / "plain").symlink_to(".env")
        workspace = Workspace(str(root), [protect(".env")])
        for path in (".env", "./sub/../.env", "plain"):
            error = refusal(lambda path=path: workspace.read_bytes(path))
            assert error.reason == "protected" and ".env is protected" in str(error)

    def test_a_hard_link_does_not_help_either(self, root: Path) -> None:
        (root / ".env").write_bytes(SECRET)
        (root / "sub" / "plain").hardlink_to(root / ".env")
        workspace = Workspace(str(root), [protect(".env")])
        error = refusal(lambda: workspace.read_bytes("sub/plain"))
        assert error.reason == "protected" and "another name of .env" in str(error)

    def test_two_names_of_an_unprotected_file_are_fine(self, root: Path) -> None:
        (root / "sub" / "two.txt").hardlink_to(root / "a.txt")
        assert Workspace(str(root), [protect(".env")]).read_bytes("sub/two.txt") == b"inside\n"

    def test_the_kind_is_passed_on(self, root: Path) -> None:
        kinds: list[tuple[TouchKind, str]] = []

        def note(kind: TouchKind, path: str) -> None:
            kinds.append((kind, path))

        workspace = Workspace(str(root), [note])
        workspace.read_bytes("a.txt")
        workspace.scan("sub")
        with workspace.open("a.txt", "edit"):
            pass
        assert kinds == [("read", "a.txt"), ("list", "sub"), ("edit", "a.txt")]

    def test_one_that_fails_refuses(self, root: Path) -> None:
        def broken(kind: TouchKind, path: str) -> None:
            raise ZeroDivisionError

        workspace = Workspace(str(root), [broken])
        assert reason(workspace, "a.txt") == "protected"
        assert workspace.refusal("list", "a.txt") is not None

    def test_other_names_are_all_found_shallow_first(self, root: Path) -> None:
        (root / "sub" / "two").hardlink_to(root / "a.txt")
        (root / "z").hardlink_to(root / "a.txt")
        found = list(other_names(str(root), os.stat(root / "a.txt")))
        assert sorted(found) == ["a.txt", "sub/two", "z"] and found[-1] == "sub/two"


class TestNames:
    def test_bytes_that_are_not_utf8_are_shown_and_accepted_back(self, root: Path) -> None:
        raw = os.fsencode(root) + b"/caf\xe9.txt"
        Path(os.fsdecode(raw)).write_bytes(b"latin\n")
        workspace = Workspace(str(root))
        [name] = [shown(entry.name) for entry in workspace.scan(".") if entry.name.startswith("caf")]
        assert name == r"caf\xe9.txt"
        assert workspace.read_bytes(name) == b"latin\n"
        with workspace.open(name) as opened:
            assert opened.at == name

    def test_a_name_spelled_so_letter_for_letter_wins(self, root: Path) -> None:
        (root / r"caf\xe9").write_bytes(b"letters\n")
        Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9")).write_bytes(b"byte\n")
        assert Workspace(str(root)).read_bytes(r"caf\xe9") == b"letters\n"

    @given(st.binary(min_size=1, max_size=12))
    def test_shown_is_valid_unicode_and_comes_back(self, raw: bytes) -> None:
        name = os.fsdecode(raw)
        text = shown(name)
        text.encode()
        if "\\" not in name:
            assert os.fsencode(as_given(text) or text) == raw


class TestSession:
    def test_a_sessions_own_folder_is_a_second_root_for_reading(self, root: Path) -> None:
        session = root.parent / "state"
        (session / "out").mkdir(parents=True)
        (session / "out" / "c7.txt").write_bytes(b"kept\n")
        (session / "leak").symlink_to("../outside/secret.txt")
        workspace = Workspace(str(root), [protect("session:out/c7.txt")], session=str(session))
        assert workspace.read_bytes("session:out/c7.txt") == b"kept\n"
        assert workspace.place("session:out/c7.txt") == Place("session:out/c7.txt")
        for path in ("session:../outside/secret.txt", "session:leak", "session:/etc/passwd"):
            assert reason(workspace, path) == "escapes"


class TestRecording:
    def test_it_notes_what_was_opened_and_what_was_missing(self, root: Path) -> None:
        workspace = Workspace(str(root))
        view = workspace.recording()
        view.read_bytes("sub/../a.txt")
        refusal(lambda: view.read_bytes("sub/new.txt"))
        assert set(view.opened) == {"a.txt", "sub/new.txt"}
        assert view.opened["a.txt"].stamp is not None and view.opened["sub/new.txt"].stamp is None
        assert workspace.opened == {}


@pytest.fixture
def swapping() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Runs a function all the time in another thread, until the test ends."""
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def start(swap: Callable[[], None]) -> None:
        def again() -> None:
            while not stop.is_set():
                swap()

        threads.append(threading.Thread(target=again, daemon=True))
        threads[-1].start()

    yield start
    stop.set()
    for thread in threads:
        thread.join(60)


class TestRaces:
    def test_a_file_swapped_for_a_link_never_shows_what_is_outside(
        self, tmp_path: Path, swapping: Callable[[Callable[[], None]], None]
    ) -> None:
        root = build(tmp_path)

        def swap() -> None:
            link, plain = root / "l.tmp", root / "p.tmp"
            link.symlink_to("../outside/secret.txt")
            link.rename(root / "a.txt")
            plain.write_bytes(b"inside\n")
            plain.rename(root / "a.txt")

        swapping(swap)
        workspace = Workspace(str(root))
        answers: set[object] = set()
        both, deadline = {b"inside\n", "escapes"}, time.monotonic() + 60
        for number in count():
            if number > 500 and (both <= answers or time.monotonic() > deadline):
                break
            try:
                answers.add(workspace.read_bytes("a.txt"))
            except DoorError as error:
                answers.add(error.reason)
        assert SECRET not in answers
        assert both <= answers  # the race was on

    def test_a_folder_moved_out_while_open_is_noticed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = build(tmp_path)
        real_find = Beneath._find_fast

        def move_then_find(self: Beneath, parts: list[str]) -> object:
            found = real_find(self, parts)
            (root / "sub").rename(tmp_path / "moved")
            return found

        monkeypatch.setattr(Beneath, "_find_fast", move_then_find)
        assert reason(Workspace(str(root)), "sub/b.txt") == "escapes"


def test_a_name_that_is_itself_a_link_is_checked_by_its_letters_and_by_every_link_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "cfg").mkdir()
    (tmp_path / "cfg/dev").write_text("TOKEN=abc")
    (tmp_path / ".env").symlink_to("cfg/dev")
    (tmp_path / "second").symlink_to(".env")
    (tmp_path / "plain").symlink_to("cfg/dev")
    seen: list[str] = []

    def check(kind: TouchKind, path: str) -> Deny | None:
        seen.append(path)
        return Deny("test", "no") if ".env" in path else None

    door = Workspace(str(tmp_path), [check])
    for path in (".env", "./x/../.env", "second", f"{tmp_path}/.env"):
        with pytest.raises(DoorError):
            door.read_bytes(path)
    assert door.read_bytes("plain") == b"TOKEN=abc"
    assert {".env", "second", "plain", "cfg/dev"} <= set(seen)
