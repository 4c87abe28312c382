"""A provider: a "model" that makes the call which is typed, `csv_columns path=a.csv`, and says what came of it."""

from pegboard.events import WireCall
from pegboard.models import CallPart, EndPart, ProviderSettings, Request, TextPart


class Parrot:
    cautious = False

    def __init__(self, settings: ProviderSettings) -> None:
        self.banner = f"parrot {settings.model}"
        self._voice = settings.model

    async def reply(self, request: Request):
        last = request.messages[-1]
        if last.reply is not None:
            yield TextPart(f"{self._voice} says: {last.reply.text}")
        else:
            name, *words = last.text.split()
            yield CallPart(WireCall(id="1", name=name, arguments=dict(word.split("=", 1) for word in words)))
        yield EndPart(input=7, output=3)

    async def close(self) -> None:
        """Nothing is held open."""


def provider(settings: ProviderSettings) -> Parrot:
    return Parrot(settings)
