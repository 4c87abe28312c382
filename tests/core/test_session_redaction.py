"""Redaction: a credential goes into the model's own history and to the tool, and never into the record."""

from __future__ import annotations

import asyncio
import json
import string
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events
from pegboard.config.patterns import bounded
from pegboard.config.schema import SessionSettings
from pegboard.errors import ConfigError
from pegboard.events import AnyEvent
from pegboard.session import Fold, Session, read_events
from pegboard.session.credentials import redacted
from pegboard.session.redaction import Redactor, redactor_of, secret_values, suspicious
from pegboard.session.viewer import Viewer
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.wire import encode

LETTERS = string.ascii_letters + string.digits


def letters(least: int, most: int | None = None, of: str = LETTERS) -> st.SearchStrategy[str]:
    return st.text(of, min_size=least, max_size=most or least)


def form(begin: str, body: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, str]]:
    """(the text, the part of it that must be gone), with a capital letter and a digit as all random ones have."""
    return body.map(lambda text: (f"{begin}A1{text}", f"A1{text}"))


URL_SAFE = LETTERS + "_-"
WORDS = st.text("abcdefgh .,(){}\"'\\\n\t:/é😀\x00\u2028", max_size=40)
PEM = st.lists(letters(64, of=LETTERS + "+/"), min_size=1, max_size=4).map("\n".join)
SECRETS = st.one_of(
    letters(16, of=string.ascii_uppercase + string.digits).map(lambda body: (f"AKIA{body}", body)),
    form("AIza", letters(33, of=URL_SAFE)),
    st.sampled_from(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]).flatmap(lambda begin: form(begin, letters(34))),
    form("github_pat_", letters(22, 80, LETTERS + "_")),
    form("glpat-", letters(20, 40, URL_SAFE)),
    st.sampled_from("abeoprs").flatmap(lambda kind: form(f"xox{kind}-", letters(24, 60))),
    form("sk-ant-api03-", letters(80, 95, URL_SAFE)),
    st.sampled_from(["sk-", "sk-proj-", "sk-svcacct-"]).flatmap(lambda begin: form(begin, letters(40, 80))),
    st.sampled_from(["sk_live_", "rk_live_", "sk_test_"]).flatmap(lambda begin: form(begin, letters(24, 90))),
    form("npm_", letters(34)),
    form("pypi-", letters(60, 150, URL_SAFE)),
    form("hf_", letters(32)),
    st.tuples(letters(20), letters(20), letters(40, of=URL_SAFE)).map(
        lambda parts: (f"eyJ{parts[0]}.eyJ{parts[1]}.{parts[2]}", parts[1])
    ),
    form("Authorization: Bearer ", letters(20, 60)),
    letters(12, 30, of=LETTERS + "%!").map(lambda word: (f"postgres://me:{word}@db.example/x", f":{word}@")),
    letters(12, 30).map(lambda word: (f"DB_PASSWORD={word}", word)),
    letters(12, 30).map(lambda word: (f"STRIPE_API_KEY='{word} x'", word)),
    PEM.map(lambda body: (f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----", body[:40])),
)


def place(text: str, where: int) -> AnyEvent:
    """An event that has this text in one of the places where texts stand."""
    call = events.WireCall(id="c1", name="t", arguments={"a": [{"b": text}]})
    decision: Any = msgspec.convert({"action": "allow", "rule": "r", "layer": "default"}, events.Decision)
    touch = events.Touch("read", text, text)
    return [
        events.Prompt(turn=1, text=text),
        events.Message(turn=1, text=text, thinking="t", calls=[call], provider_data={"opaque": [text]}),
        events.CallAsked(lane="root", id="c1", tool=None, requested="t", set=None, arguments={"x": text}, summary=text),
        events.ApprovalAsked(lane="root", id="a1", call="c1", rule="r", layer="default", arguments=[text]),
        events.CallStarted(lane="root", id="c1", touches=[touch], decision=decision),
        events.CallFinished(
            lane="root",
            id="c1",
            outcome="ok",
            block=None,
            why=None,
            text=text,
            data={"hits": [text]},
            truncated=False,
            decision=None,
            duration_ms=1.0,
            blocks=[events.AnyBlock.__args__[1](path="a", change="changed", added=1, removed=0, text=f"+{text}")],
        ),
        events.StateChanged(key="k", value={"deep": {"er": text}}),
        events.Note(level="info", text=text),
    ][where]


# --- the record -------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(secret=SECRETS, before=WORDS, after=WORDS, where=st.integers(0, 7))
def test_a_planted_credential_is_in_no_line_of_the_log_and_the_line_is_still_that_event(
    secret: tuple[str, str], before: str, after: str, where: int
) -> None:
    text, gone = secret
    event = place(f"{before}\n{text}\n{after}", where)
    shown, line = Redactor().event(event, encode(event))
    assert gone not in line.decode() and encode(gone)[1:-1] not in line
    assert b"[redacted: " in line
    assert encode(shown) == line
    raw, kept = json.loads(encode(event)), json.loads(line)
    assert raw.keys() == kept.keys() and [type(v) for v in raw.values()] == [type(v) for v in kept.values()]
    assert {key: raw.get(key) for key in ("event", "id", "lane", "call")} == {
        key: kept.get(key) for key in ("event", "id", "lane", "call")
    }
    again, twice = Redactor().event(shown, line)
    assert twice == line and again is shown, "what was redacted once is left alone"


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=300), where=st.integers(0, 7))
def test_a_text_without_a_credential_is_kept_to_the_byte(text: str, where: int) -> None:
    event = place(text, where)
    line = encode(event)
    assert Redactor().event(event, line) == (event, line) or redacted(text) != text


@settings(max_examples=80, deadline=None)
@given(secret=SECRETS, before=WORDS)
def test_the_quick_look_passes_nothing_over_that_the_patterns_would_take(secret: tuple[str, str], before: str) -> None:
    text = f"{before} {secret[0]}"
    assert redacted(text) != text
    assert suspicious(encode(events.Note(level="info", text=text)))


@pytest.mark.parametrize(
    "text",
    [
        "risk-aversion-of-the-very-longest-kind-1",
        "task-management-of-all-kinds-of-things-2",
        "MONKEY=bananas-and-more",
        "PRIMARY_KEY=$FROM_THE_ENVIRONMENT",
        "TOKEN=<your token>",
        "the bearer of good news, everybody",
        "a mail to someone@example.org about https://example.org/x",
        "git clone git@example.org:a/b.git",
        "high_resolution_of_the_thing npm_config_registry hf_hub",
        "-----BEGIN CERTIFICATE-----\nMIIB",
        "eyJ is how a token begins",
        "if key == value: token = tokens[0]",
    ],
)
def test_what_only_looks_a_little_like_it_is_left_alone(text: str) -> None:
    assert redacted(text) is text


def test_a_key_that_was_cut_off_is_taken_out_to_its_end_and_no_further() -> None:
    text = "see -----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\nAbCdEfGhIjKlMnOpQr\n... (truncated)"
    assert redacted(text) == "see [redacted: private-key]\n... (truncated)"


def test_many_beginnings_do_not_take_long() -> None:
    text = "-----BEGIN PRIVATE KEY----- " * 20_000 + "sk-" * 20_000 + "://a:" * 20_000 + "eyJ" * 20_000
    assert "PRIVATE KEY" not in redacted(text)  # quadratic work would take minutes: the suite's time limit


COLOURS = st.sampled_from(["\x1b[01;31m", "\x1b[01;31m\x1b[K", "\x1b[K", "\x1b[38;5;9m"])


@settings(max_examples=100, deadline=None)
@given(secret=SECRETS, colour=COLOURS, cut=st.integers(0, 12), where=st.integers(0, 7))
def test_a_coloured_credential_is_found_wherever_the_colour_begins_and_ends(
    secret: tuple[str, str], colour: str, cut: int, where: int
) -> None:
    """As `grep --color` prints one: what it looked for is coloured, which may be the beginning of the credential only."""
    text, gone = secret
    cut = cut if cut < len(text) - len(gone) else 0  # within the beginning
    coloured = f"a.txt:{colour}{text[:cut]}\x1b[m\x1b[K{text[cut:]}\x1b[m"
    _, line = Redactor().event(place(coloured, where), encode(place(coloured, where)))
    assert encode(gone)[1:-1] not in line and b"[redacted: " in line


@pytest.mark.parametrize(
    "spelled", ["\x1b[31m", r"\x1b[31m", r"\u001b[31m", r"\033[31m", r"\e[31m", "^[[31m", "\x9b31m"]
)
def test_a_credential_behind_a_colour_that_is_spelled_out_is_found(spelled: str) -> None:
    for secret in (TOKEN, "AKIA" + "ABCD2345" * 2, "sk-proj-" + "a1B2" * 10):
        event = place(f"echo {spelled}{secret}", 0)
        assert secret.encode() not in Redactor().event(event, encode(event))[1]


def test_colours_stay_where_there_is_no_credential() -> None:
    event = place("\x1b[31mred\x1b[m and -plain@x://", 0)
    assert Redactor().event(event, encode(event))[0] is event
    assert Redactor().text(f"\x1b[31mred\x1b[m {TOKEN}") == "\x1b[31mred\x1b[m [redacted: github-token]"


def test_a_coloured_value_of_the_environment_is_found() -> None:
    event = place("the \x1b[31mquite\x1b[m plain words", 0)
    _, line = Redactor(values={"ACME_KEY": "quite plain words"}).event(event, encode(event))
    assert json.loads(line)["text"] == "the [redacted: ACME_KEY]"


def test_the_whole_of_a_password_in_an_address_goes() -> None:
    assert redacted("amqp://u:p@ss@h/x and me@x") == "amqp://u:[redacted: password]@h/x and me@x"


# --- a session --------------------------------------------------------------------------------------------------------

TOKEN = "ghp_" + "A1b2C3d4E5" * 4


def test_the_model_the_tool_and_who_watches_have_the_credential_and_log_and_observers_have_not(tmp_path: Path) -> None:
    got: list[str] = []

    @tool
    def use(token: str) -> str:
        """Use it."""
        got.append(token)
        return f"used {token}"

    board = TestBoard(tmp_path, tools=[use], session="s", steps=[("use", {"token": TOKEN}), f"it was {TOKEN}"])
    seen: list[AnyEvent] = []
    board.session.observers.append(seen.append)
    viewer = board.session.watch()
    board.prompt(f"use {TOKEN}")
    assert got == [TOKEN], "what was asked for is what ran"
    history = board.model.requests[-1].messages
    assert history[0].text == f"use {TOKEN}"
    assert [m.reply.text for m in history if m.reply] == [f"used {TOKEN}"]

    log = (board.session.folder / "events.jsonl").read_text()  # type: ignore[operator]
    assert TOKEN not in log and log.count("[redacted: github-token]") >= 5
    board.close()
    live = [event for event in asyncio.run(every(viewer)) if event.seq is not None]
    assert TOKEN in "".join(encode(event).decode() for event in live), "who is asked must see what would run"
    assert [board.session.line(event).decode() for event in live] == log.splitlines()
    assert [encode(event).decode() for event in seen if event.seq] == log.splitlines()
    assert list(board.session.live(3)) == live[3:], "one who comes later sees the same"

    again = TestBoard(tmp_path, tools=[use], session="s", steps=["well"])
    again.prompt("and now?")
    assert again.model.requests[0].messages[0].text == "use [redacted: github-token]"
    again.close()


async def every(viewer: Viewer) -> list[AnyEvent]:
    return [event async for event in viewer]


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    board = TestBoard(tmp_path, session="s", steps=["ok"], settings={"sessions.redact": False})
    board.prompt(f"use {TOKEN}")
    assert TOKEN in (board.session.folder / "events.jsonl").read_text()  # type: ignore[operator]
    board.close()


PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="=@-AJgnhkTteu"), max_size=60)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.tuples(PLAIN, st.integers(0, 7)), max_size=12))
def test_without_credentials_a_resumed_session_is_the_one_that_ran(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, int]]
) -> None:
    store = tmp_path_factory.mktemp("store")
    live = Session.open(store, "s", "/", Redactor())
    live.append(*(place(text, where) for text, where in texts))
    live.close()
    resumed = Fold()
    for event in read_events(store / "s"):
        resumed.apply(event)
    state = [(f.history(), f.seen, f.state, f.turn, f.calls) for f in (live.fold, resumed)]
    assert msgspec.to_builtins(state[0]) == msgspec.to_builtins(state[1])


def test_what_names_and_orders_things_is_never_changed_and_arguments_of_such_names_are() -> None:
    asked = events.CallAsked(
        lane=TOKEN, id=TOKEN, tool=TOKEN, requested="t", set=None, arguments={"id": TOKEN, TOKEN: 1}, summary="s"
    )
    shown, _ = Redactor().event(asked, encode(asked))
    assert isinstance(shown, events.CallAsked)
    assert (shown.lane, shown.id, shown.tool) == (TOKEN, TOKEN, TOKEN)
    assert shown.arguments == {"id": "[redacted: github-token]", "[redacted: github-token]": 1}


def test_two_names_of_arguments_that_are_credentials_stay_two() -> None:
    other = TOKEN[:-1] + "z"
    shown = Redactor().value({TOKEN: 1, "plain": 2, other: 3})
    assert shown == {"[redacted: github-token]": 1, "plain": 2, "[redacted: github-token]+": 3}


# --- what the person adds ---------------------------------------------------------------------------------------------


def test_variables_are_secrets_by_the_end_of_their_names(tmp_path: Path) -> None:
    there = tmp_path / "key.json"
    there.touch()
    long = "correct horse"
    names = [
        "ENCRYPTION_KEY",
        "MYKEY",
        "MYTOKEN",
        "TOKEN",
        "SERVICE_CREDENTIALS",
        "db_passwd",
        "PGPASSWORD",
        "A_SECRET",
    ]
    secrets = dict.fromkeys([*names, "SECRET_KEY_BASE"], long) | {"AWS_SECRET_ACCESS_KEY": "/" + "wJalrXUtn+" * 4}
    others = {
        "SSH_AUTH_SOCK": long,
        "TOKEN_URL": long,
        "KEYBOARD": long,
        "APP_SECRET_FILE": long,
        "SHORT_KEY": "eleven chrs",
        "A_KEY": "123456789012",
        "GOOGLE_APPLICATION_CREDENTIALS": str(there),
    }
    assert secret_values(secrets | others) == secrets
    many = {f"N{number:03}_TOKEN": f"value number {number}" for number in range(200)}
    assert secret_values(many) == many, "there is no limit that nobody is told of"


def test_secrets_of_the_environment_are_found_whatever_they_look_like(tmp_path: Path) -> None:
    environ = {
        "ACME_API_KEY": 'quite "plain" words',
        "SHORT_TOKEN": "brief",
        "TLS_SECRET_FILE": "/etc/some/where.pem",
        "EDITOR": "a-long-editor-name",
    }
    assert secret_values(environ) == {"ACME_API_KEY": 'quite "plain" words'}
    redactor = redactor_of(SessionSettings(), environ)
    assert redactor is not None
    mine = Session.open(tmp_path, "s", "/", redactor)
    mine.append(events.Prompt(text='it is quite "plain" words, a-long-editor-name'))
    [event] = read_events(tmp_path / "s")
    assert event == events.Prompt(seq=1, text="it is [redacted: ACME_API_KEY], a-long-editor-name")
    assert redactor_of(SessionSettings(redact=False), environ) is None


def test_patterns_of_the_persons_own(tmp_path: Path) -> None:
    settings = {"sessions.redact_patterns": ["ACME-[0-9]{4}"]}
    board = TestBoard(tmp_path, session="s", steps=["fine"], settings=settings)
    board.prompt("take acme ACME-1234 and ACME-12")
    log = (board.session.folder / "events.jsonl").read_text()  # type: ignore[operator]
    assert "take acme [redacted: pattern] and ACME-12" in log
    board.close()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "no regular expression"),
        ("x*", "empty text"),
        ("(a+)+b", "repeat inside a repeat"),
        ("(?:a|aa)+b", "alternatives inside a repeat"),
        (r"(a)\1+", "refers back"),
        ("a+b+c+d", "open-ended"),
        ("x" * 501, "500 characters"),
        ("(?:a{1,9}b){1,9}", "repeat inside a repeat"),
    ],
)
def test_a_pattern_that_could_take_for_ever_is_refused_at_the_start(tmp_path: Path, pattern: str, why: str) -> None:
    with pytest.raises(ConfigError, match=r"sessions.*nothing was started") as refused:
        TestBoard(tmp_path, settings={"sessions.redact_patterns": [pattern]})
    assert why in str(refused.value)


@pytest.mark.parametrize("pattern", ["[a-z]+[0-9]+!", "(?:ab|cd)x{1,40}", "(?i)acme[ -]?[0-9]{4,}", "(?<=id=)[0-9]+"])
def test_a_pattern_that_is_let_through_ends_on_the_worst_of_texts(pattern: str) -> None:
    assert bounded(pattern).pattern == pattern
    text = "a" * 60_000 + "0" * 60_000
    assert Redactor(patterns=[pattern]).text(text) is not None
