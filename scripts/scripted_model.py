#!/usr/bin/env python3
"""A scripted model (`model_server.py`) on a port of its own: to try Pegboard without an account.

python scripts/scripted_model.py                     answers plain requests by keywords, with real tool calls
python scripts/scripted_model.py --script FILE       plays FILE: one reply a line, as JSON (the fields of `Reply`)
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from model_server import ModelServer, Reply

_Q = r"[\"'`](?P<{}>[^\"'`]+)[\"'`]"
_RULES: list[tuple[str, str, Callable[[re.Match[str]], dict[str, Any]]]] = [
    (
        rf"replace {_Q.format('old')} (?:with|by) {_Q.format('new')} in (?P<path>\S+)",
        "edit_file",
        lambda m: {"path": m["path"], "old_string": m["old"], "new_string": m["new"]},
    ),
    (
        rf"write {_Q.format('text')} (?:to|into) (?P<path>\S+)",
        "write_file",
        lambda m: {"path": m["path"], "content": m["text"] + "\n"},
    ),
    (rf"run {_Q.format('command')}", "bash", lambda m: {"command": m["command"]}),
    (rf"(?:search|find|grep|where|look)\b.*?{_Q.format('text')}", "grep", lambda m: {"pattern": m["text"]}),
    (r"(?:list|which|what) .*?(?P<glob>\*\S*|files)", "glob", lambda m: {"pattern": m["glob"].replace("files", "*")}),
    (r"(?:read|show|open|cat) (?P<path>[\w./-]+)", "read_file", lambda m: {"path": m["path"].rstrip(".")}),
]
SAYS = (
    "I am a script, not a model. I understand: read FILE, search for 'TEXT', list files, write 'TEXT' to FILE, "
    "replace 'OLD' with 'NEW' in FILE, run 'COMMAND', and several of these with `and` between; also `count slowly`."
)


def by_keywords(body: dict[str, Any]) -> Reply:
    """What a plain request comes to: calls of the tools on offer, or what there is to say about their results."""
    messages = body.get("messages") or [{}]
    after = list(itertools.takewhile(lambda one: one.get("role") == "tool", reversed(messages)))
    if after:
        shown = "\n\n".join(str(one.get("content"))[:2000] for one in reversed(after))
        return Reply(text=f"This is what came back:\n\n{shown}", piece=40)
    asked = str(messages[-1].get("content") or "")
    if "count slowly" in asked:
        return Reply(text=" ".join(map(str, range(1, 101))), pause=0.1)
    offered = {tool["function"]["name"] for tool in body.get("tools") or ()}
    calls = []
    for part in re.split(r"(?:,? and (?:then )?|, then )(?=\w+ )", asked):
        for pattern, tool, arguments in _RULES:
            if tool in offered and (found := re.search(pattern, part, re.IGNORECASE)):
                calls.append((tool, arguments(found)))
                break
    return Reply(thinking="Matched by keywords.", calls=calls) if calls else Reply(text=SAYS)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server on loopback that plays a script.")
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1; left out: a free one")
    parser.add_argument("--script", help="a file with one reply a line, as JSON; without it, answers by keywords")
    parser.add_argument("--key", help="the API key to insist on")
    given = parser.parse_args()
    script: list[Reply] = []
    if given.script:
        with open(given.script, encoding="utf-8") as file:
            script = [Reply(**json.loads(line)) for line in file if line.strip()]
    try:
        held = ModelServer(*script, then=by_keywords, key=given.key, port=given.port)
    except (OSError, OverflowError) as error:
        sys.exit(f"port {given.port} cannot be had ({error}): leave --port out, or choose another")
    with held as server:
        key = f"OPENAI_API_KEY={shlex.quote(given.key)} " if given.key else ""
        print(f"base_url: {server.base_url}", flush=True)
        print(
            f"try:      {key}OPENAI_BASE_URL={server.base_url} pegboard run --model openai/scripted 'list files'",
            flush=True,
        )
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)


if __name__ == "__main__":
    main()
