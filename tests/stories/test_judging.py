"""Stories of those who judge: a guard, a policy service that answers in a person's place, and who changes a call before."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import doc_blocks
import pytest
from pegboard.testing.scripted import Scripted

pytestmark = pytest.mark.xdist_group("stories")  # what looks at plugins does so once

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "policy-service.md"
WRITE = {"path": "vendor/lib.js", "content": "x"}


@pytest.mark.hook("pegboard_guards")
async def test_a_guard_refuses_what_everybody_allows(machine: Any) -> None:
    machine.install("pegboard-freeze")
    async with machine.board(tool_permission__edit="allow", tool_permission__bash="allow") as board:
        frozen = await board.call("write_file", WRITE, answers="--yes")
        beside = await board.call("write_file", WRITE | {"path": "src.js"}, answers="--yes")
        asked = await board.call("bash", {"command": "make publish"}, answers="headless")
    assert (frozen.outcome, "vendor/lib.js is frozen" in frozen.text) == ("error", True)
    assert (beside.outcome, (machine.root / "src.js").read_text()) == ("ok", "x")
    assert not (machine.root / "vendor" / "lib.js").exists()
    assert (asked.block, asked.decision.rule) == ("denied", "freeze.watched")


async def test_without_the_guard_nothing_is_frozen(machine: Any) -> None:
    async with machine.board(tool_permission__edit="allow") as board:
        assert (await board.call("write_file", WRITE)).outcome == "ok"


@pytest.mark.hook("pegboard_rewriters")
async def test_a_rewriter_changes_calls_where_the_persons_own_file_names_it_and_what_it_made_is_judged(
    machine: Any,
) -> None:
    machine.install("pegboard-spell", "pegboard-freeze")
    shouted = {"path": "VENDOR/LIB.JS", "content": "x"}
    async with machine.board(tool_permission__edit="allow") as board:
        assert (await board.call("write_file", shouted)).outcome == "ok"  # installed, and not named
        assert (machine.root / "VENDOR" / "LIB.JS").exists()
    machine.file.write_text('[plugins]\nrewriters = ["spell"]\n')
    async with machine.board(tool_permission__edit="allow") as board:
        refused = await board.call("write_file", shouted)
    assert (refused.outcome, "vendor/lib.js is frozen" in refused.text) == ("error", True)
    assert refused.arguments["path"] == "vendor/lib.js"  # what is told and logged is what was judged


# --- the policy service of docs/how-to/policy-service.md: its own code, as it stands there ------------------------


class Service:
    """The service: says what `says` holds to whoever asks, and keeps what it was asked."""

    def __init__(self) -> None:
        self.says: Any = {}
        self.asked: list[Any] = []
        service = self

        class Answers(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if service.says is None:  # hangs up, with something that is no HTTP
                    self.wfile.write(b"what?\r\n\r\n")
                    return
                body = service.says if isinstance(service.says, bytes) else json.dumps(service.says).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nobody reads it."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}/decide"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Nobody answers at its address any more. Again does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.stop()


@pytest.fixture
def policed(machine: Any, service: Service) -> Any:
    """A machine with what the page tells to install, and to write into one's own file; the service is where ours is."""
    blocks = list(doc_blocks.blocks(PAGE))
    [module] = [block.text for block in blocks if block.language == "python"]
    project, own = [block.text for block in blocks if block.language == "toml"]
    machine.install(machine.shelf.add(project, pegboard_acme_policy=module))
    assert own.count("http://127.0.0.1:8123/decide") == 1
    machine.file.write_text(own.replace("http://127.0.0.1:8123/decide", service.url))
    return machine


@pytest.mark.hook("pegboard_approvers")
async def test_a_policy_service_says_yes_and_no_in_a_persons_place(policed: Any, service: Service) -> None:
    async with policed.board() as board:
        service.says = {"granted": True}
        session = board.session(in_memory=True)
        await board.run(
            "write", session=session, provider=Scripted([("write_file", {"path": "a.txt", "content": "x"}), "done"])
        )
        assert (policed.root / "a.txt").read_text() == "x"
        assert service.asked == [{"tool": "write_file", "touches": [["edit", "a.txt"]]}]
        [answered] = [event for event in session.read() if type(event).__name__ == "ApprovalAnswered"]
        assert (answered.granted, answered.by) == (True, "plugin:acme-policy")  # what `sessions audit` reads
        service.says = {"granted": False, "reason": "there is a freeze until Monday"}
        refused = await board.call("write_file", {"path": "b.txt", "content": "x"}, answers="--yes")
    assert (refused.outcome, refused.block, refused.decision.answer.by) == ("blocked", "denied", "plugin:acme-policy")
    assert "there is a freeze until Monday" in refused.text
    assert not (policed.root / "b.txt").exists()
    service.asked.clear()
    async with policed.board(tool_permission__edit="deny") as board:  # what a rule refuses it never sees
        assert (await board.call("write_file", {"path": "a.txt", "content": "x"})).block == "denied"
    policed.file.write_text(policed.file.read_text().replace('approvers = ["acme-policy"]', ""))
    async with policed.board() as board:  # nor anything before it is named
        unnamed = await board.call("write_file", {"path": "b.txt", "content": "x"})
    assert (unnamed.block, unnamed.decision.answer.by, service.asked) == ("denied", "headless", [])


async def test_a_policy_service_that_is_down_or_talks_nonsense_leaves_the_question_and_in_the_end_it_is_no(
    policed: Any, service: Service
) -> None:
    call = ("write_file", {"path": "a.txt", "content": "x"})
    async with policed.board() as board:
        for says in ({}, {"granted": "yes"}, [], b"<html>Bad gateway</html>", None):
            service.says = says
            left = await board.call(*call)
            assert (left.block, left.decision.answer.by) == ("denied", "headless"), says
        assert len(service.asked) == 5
        service.stop()
        down = await board.call(*call)
        assert (down.block, down.decision.answer.by) == ("denied", "headless")
        agreed = await board.call(*call, answers="--yes")  # the next one is asked: here, who said yes to all
    assert (agreed.outcome, agreed.decision.answer.by) == ("ok", "--yes")
