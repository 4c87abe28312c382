"""A guard: places that stay as they are, and programs that somebody has to look at."""

from fnmatch import fnmatch

import msgspec
from pegboard import Ask, Call, Deny, Touch, hookimpl


class Settings(msgspec.Struct, frozen=True):
    """The table [freeze]."""

    places: tuple[str, ...] = ("vendor/*",)
    watched: str = "publish"


class Freeze:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(self, call: Call, touches: list[Touch]) -> Deny | Ask | None:
        if any(touch.kind == "run" and self._settings.watched in touch.what for touch in touches):
            return Ask("freeze.watched", f"a command says {self._settings.watched}")
        return None

    def path(self, kind: str, path: str) -> Deny | None:
        if kind == "edit" and any(fnmatch(path, place) for place in self._settings.places):
            return Deny("freeze.place", f"{path} is frozen. Nothing was changed. Write beside it.")
        return None


@hookimpl
def pegboard_guards(settings):
    return [Freeze(settings)]
