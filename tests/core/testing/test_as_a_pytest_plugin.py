"""The kit as an author's own suite has it: its fixtures, its setting, and what is read where a test fails."""

from __future__ import annotations

import pytest

TOOL = """
import socket

from pegboard import tool
from pegboard.testing import Approvals, Scripted, TestBoard, no, writes_detected, yes

@tool(pure=True)
def echo(word: str) -> str:
    '''Say it again.'''
    return word
"""
REACHES = "socket.create_connection(('192.0.2.1', 80), timeout=1)"


def run(pytester: pytest.Pytester, source: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(TOOL + source)
    return pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:asyncio", *options
    )


def test_a_failure_is_what_was_expected_and_what_happened_without_our_own_lines(pytester: pytest.Pytester) -> None:
    done = run(
        pytester,
        """
def test_fails(pegboard_board):
    pegboard_board(tools=[echo]).call("echo", word="a").expect("error", text="b")
""",
    )
    done.assert_outcomes(failed=1)
    told = ["*echo(word='a') came to something else.", " * text: 'a', expected 'b'", " * log * call_asked, *"]
    done.stdout.fnmatch_lines([f"E {line}" for line in told])
    done.stdout.no_fnmatch_line("*called.py*")


def test_an_answer_that_nobody_wanted_is_told_at_the_end(pytester: pytest.Pytester) -> None:
    done = run(
        pytester,
        """
def test_asks(pegboard_board):
    pegboard_board(tools=[echo], answers=[True]).call("echo", word="a").expect("ok", asked=False)
    pegboard_board(tools=[echo], answers=[yes(remember="session")])
""",
    )
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["answers are left that nobody asked for: True", "answers are left*granted=True*"])


def test_the_network_is_out_of_reach_of_a_test_that_says_so(pytester: pytest.Pytester) -> None:
    done = run(
        pytester,
        f"""
import pytest

def test_says_so(pegboard_no_network):
    with pytest.raises(RuntimeError, match="loopback only"):
        {REACHES}

def test_swallows_it(pegboard_no_network):
    try:
        socket.getaddrinfo("example.com", 80)
    except RuntimeError:
        pass

def test_loopback_is_no_network(pegboard_no_network):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
""",
    )
    done.assert_outcomes(passed=3, errors=2)
    done.stdout.fnmatch_lines(
        ["reached for the network: socket.connect*192.0.2.1*", "*socket.getaddrinfo 'example.com'"]
    )


def test_a_setting_puts_the_network_out_of_reach_of_every_test(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npegboard_no_network = true")
    done = run(pytester, f"\ndef test_reaches():\n    {REACHES}\n\ndef test_other(): pass\n")
    done.assert_outcomes(failed=1, passed=1, errors=1)
    done.stdout.fnmatch_lines(["*NetworkBlocked*tests may talk to loopback only. Nothing was sent.*"])


def test_the_network_is_let_go_of_afterwards(pytester: pytest.Pytester) -> None:
    source = """
from pegboard.testing import network

def test_holds(pegboard_no_network):
    assert network._held > network._before

def test_does_not():
    assert network._held == network._before
"""
    from pegboard.testing import network

    network._before = network._held  # type: ignore[attr-defined]
    run(pytester, source).assert_outcomes(passed=2)
