"""A provider that plays `script.json` of the workspace root: a list of replies, each a text and calls."""

import asyncio
import json
import os

from pegboard.events import WireCall
from pegboard.models import CallPart, EndPart, NotePart, TextPart, ThinkingPart


class Script:
    banner = "script: plays what is written\x1b]0;owned\x07"
    cautious = False

    def __init__(self, settings):
        self.root = settings.root

    async def reply(self, request):
        with open(os.path.join(self.root, "script.json"), encoding="utf-8") as file:
            steps = json.load(file)
        done = sum(1 for message in request.messages if message.role == "assistant")
        with open(os.path.join(self.root, "heard.json"), "w", encoding="utf-8") as file:
            json.dump([m.reply.text if m.reply else m.text for m in request.messages], file)
        step = steps[min(done, len(steps) - 1)]
        if "fail" in step:
            raise RuntimeError(step["fail"])
        if "note" in step:
            yield NotePart(step["note"])
        if "sleep" in step:
            yield TextPart(step["text"])
            await asyncio.sleep(step["sleep"])
        yield ThinkingPart("hm")
        text = step.get("text", "")
        for start in range(0, len(text), 3):
            yield TextPart(text[start : start + 3])
        for call in step.get("calls", []):
            yield CallPart(WireCall(id="x", name=call[0], arguments=call[1]))
        yield EndPart(input=1, output=1, asks_back=step.get("asks_back", False))

    async def close(self):
        pass


provider = Script
