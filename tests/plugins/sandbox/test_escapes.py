"""What must not be possible in the sandbox. Each line is run in it and fails, and then outside of it, where it works: so it
fails for the sandbox, and for nothing else."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator

import pytest
from pegboard.errors import ToolError
from sandboxed import PYTHON, SECRET, Place

pytestmark = pytest.mark.xdist_group("sandbox")  # each would cover the sockets of the others, which come and go

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="outside of the sandbox only root may do this")
CONNECT = "import socket,sys; s = socket.socket(socket.{family}); s.settimeout(5); s.connect({address}); s.recv(4)"

READS = {
    "an ssh key": "cat {home}/.ssh/id_rsa",
    "cloud credentials": "cat {home}/.aws/credentials",
    "a session": "cat {state}/sessions/s1/events.jsonl",
    "a token for packages": "grep . {home}/.npmrc",
    "a .env": "cat .env",
    "a .env further down": "cat sub/.env.local",
    "a key further down": "cat sub/server.key",
    "another process's variables": "tr '\\0' '\\n' < /proc/{pid}/environ | grep OTHERS_SECRET",
    "a variable that looks like a secret": 'printf %s "$MY_API_KEY" | grep .',
    "through /proc/self/root": "cat /proc/self/root{home}/.ssh/id_rsa",
    "through another process": "cat /proc/$PPID/root{home}/.ssh/id_rsa",
    "through a link": "ln -s {home}/.ssh keys && cat keys/id_rsa",
    "by a hard link": "ln {home}/.ssh/id_rsa stolen && cat stolen",
    "after moving the folder": "mv {home}/.ssh {home}/moved && cat {home}/moved/id_rsa && mv {home}/moved {home}/.ssh",
}
DOES = {
    "writing a hook": ("echo x > .git/hooks/post-commit", "work/.git/hooks/post-commit"),
    "writing a hook under another name of .git": (
        "mv .git g2 && mkdir -p .git/hooks && echo x > .git/hooks/x; mv .git g3; mv g2 .git; test -e g3/hooks/x",
        "work/g3/hooks/x",
    ),
    "writing a hook further down": ("echo x > sub/inner/.git/hooks/pre-push", "work/sub/inner/.git/hooks/pre-push"),
    "moving a repository further down": ("mv sub/inner/.git sub/inner/g && test -d sub/inner/g", "work/sub/inner/g"),
    "moving what a repository further down is in": ("mv sub/inner sub/other", "work/sub/other"),
    "settings of git": ("git config core.fsmonitor ./x", None),
    "leading git elsewhere": (
        "mkdir -p evil && cp .git/config evil && rm -f .git/commondir && echo ../evil > .git/commondir; "
        "grep -q evil .git/commondir; code=$?; rm -f .git/commondir; exit $code",
        "work/.git/commondir",
    ),
    "making .pegboard": ("mkdir .pegboard && echo x > .pegboard/config.toml", "work/.pegboard/config.toml"),
    "making .envrc": ("rm -rf .envrc; echo x > .envrc", "work/.envrc"),
    "moving onto .envrc": ("rm -f .envrc; echo x > z && mv -T z .envrc && test -f .envrc", "work/.envrc"),
    "writing outside": ("echo x > {home}/outside", "outside"),
    "writing outside through a link": ("ln -sfn {home} up && echo x > up/outside2", "outside2"),
    "writing to the system": ("test -w {home}/letters && touch {home}/letters/new", "letters/new"),
    "removing outside": ("rm {home}/letters/to-you && echo gone > {home}/gone", "gone"),
    "the temporary files of others": ("echo x > {tmp}/x", None),
    "ending a process": ("kill {victim}", None),
    "looking at a process": ("kill -0 {pid}", None),
    "limits of a process": ("prlimit --pid {pid} --core=0", None),
    "a server of this machine": (
        f"{PYTHON} -c '" + CONNECT.format(family="AF_INET", address='("127.0.0.1",{port})') + "'",
        None,
    ),
    "a socket with a path": (f"{PYTHON} -c '" + CONNECT.format(family="AF_UNIX", address='"{home}/s"') + "'", None),
    "a socket without one": (f"{PYTHON} -c '" + CONNECT.format(family="AF_UNIX", address='"\\0{name}"') + "'", None),
}
AS_ROOT = {
    "mounting": "mkdir -p m && mount --bind {home}/.ssh m && cat m/id_rsa && umount m",
    "becoming another": f"{PYTHON} -c 'import os; os.setuid(1)'",
    "giving a file away": "chown 1 a.txt && chown 0 a.txt",
    "making a device": "mknod dev c 1 3 && rm dev",
    "tracing": f"{PYTHON} -c 'import ctypes; c = ctypes.CDLL(None); exit(c.ptrace(0x4206, {{pid}}, 0, 0) != 0)'",
    "namespaces of its own": "unshare --mount --user true",
    "the machine's name": 'hostname "$(hostname)"',
}


@pytest.fixture
def world(place: Place) -> Iterator[dict[str, object]]:
    """What there is outside: a process with a secret, servers, files of others."""
    other = subprocess.Popen(["sleep", "60"], env={"OTHERS_SECRET": SECRET, "PATH": os.environ["PATH"]})
    victim = subprocess.Popen(["sleep", "60"])
    name = f"pegboard-test-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (f"{place.home}/s", f"\0{name}"):
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address)
            server.listen()
            stack.callback(_answering(server))
        stack.callback(_answering(tcp))
        tmp = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
        yield {
            "home": place.home, "state": place.state, "pid": other.pid, "victim": victim.pid, "name": name,
            "port": tcp.getsockname()[1], "tmp": tmp,
        }  # fmt: skip
    for process in (other, victim):
        process.kill()
        process.wait()


def _answering(server: socket.socket) -> Callable[[], None]:

    def answer() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                client.sendall(b"here")
                client.close()

    threading.Thread(target=answer, daemon=True).start()
    return lambda: server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("command", READS.values(), ids=READS.keys())
def test_it_cannot_be_read(place: Place, world: dict[str, object], command: str) -> None:
    line = command.format(**world)

    inside = place.inside(line)

    assert inside.exit_code not in (0, None), inside.stdout
    assert SECRET.encode() not in inside.stdout + inside.stderr
    outside = place.outside(line)
    assert outside.exit_code == 0 and SECRET.encode() in outside.stdout, outside.stderr


@pytest.mark.parametrize(("command", "made"), DOES.values(), ids=DOES.keys())
def test_it_cannot_be_done(place: Place, world: dict[str, object], command: str, made: str | None) -> None:
    line = command.replace("{{", "{").replace("}}", "}")
    for name, value in world.items():
        line = line.replace("{" + name + "}", str(value))

    inside = place.inside(line)

    assert inside.exit_code not in (0, None), inside.stdout
    assert made is None or not os.path.lexists(place.home / made)
    outside = place.outside(line)
    assert outside.exit_code == 0, outside.stderr


@ROOT_ONLY
@pytest.mark.parametrize("command", AS_ROOT.values(), ids=AS_ROOT.keys())
def test_root_is_not_root_in_there(place: Place, world: dict[str, object], command: str) -> None:
    line = command.format(**world)
    if place.outside(line).exit_code != 0:
        pytest.skip(f"here this is not possible outside of the sandbox either: {line}")

    inside = place.inside(line)

    assert inside.exit_code not in (0, None), inside.stdout
    assert SECRET.encode() not in inside.stdout


def test_what_stands_in_for_what_must_not_be_made_is_gone_afterwards(place: Place) -> None:
    before = sorted(os.listdir(place.root)), sorted(os.listdir(place.root / ".git"))

    assert place.inside("ls -d .envrc .pegboard && test ! -s .envrc/x").exit_code == 0

    assert (sorted(os.listdir(place.root)), sorted(os.listdir(place.root / ".git"))) == before


def test_an_envrc_that_is_there_is_neither_read_nor_written_nor_removed(place: Place) -> None:
    (place.root / ".envrc").write_text(SECRET)

    for line in ("cat .envrc", "echo x > .envrc", "rm -f .envrc", "mv .envrc z", "chmod 777 .envrc"):
        done = place.inside(line)
        assert done.exit_code not in (0, None) and SECRET.encode() not in done.stdout, line

    assert (place.root / ".envrc").read_text() == SECRET


@pytest.mark.parametrize("name", [".envrc", ".pegboard", ".git/hooks"])
def test_a_protected_name_that_is_a_link_stops_the_program(place: Place, name: str) -> None:
    shutil.rmtree(place.root / name, ignore_errors=True)
    (place.root / name).symlink_to(place.root / "sub")

    with pytest.raises(ToolError, match=r"is a link.*Nothing was run"):
        place.inside("true")
