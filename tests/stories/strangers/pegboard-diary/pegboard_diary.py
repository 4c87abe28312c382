"""An observer: keeps a diary of what calls came to, in a file that settings name."""

import msgspec
from pegboard import hookimpl
from pegboard.events import AnyEvent, CallAsked, CallFinished


class Settings(msgspec.Struct, frozen=True):
    """The table [diary]."""

    file: str
    gives_up: bool = False


class Diary:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._names: dict[str, str] = {}

    def __call__(self, event: AnyEvent) -> None:
        if isinstance(event, CallAsked):
            self._names[event.id] = event.tool
            if self._settings.gives_up:
                raise RuntimeError("the pen broke")
        elif isinstance(event, CallFinished):
            with open(self._settings.file, "a", encoding="utf-8") as file:
                file.write(f"{self._names[event.id]} {event.outcome}\n")


@hookimpl
def pegboard_observers(settings):
    return [Diary(settings)]
