"""A launcher: programs run through `env`, which tells them so, and without what looks like a secret."""

from typing import Literal

import msgspec
from pegboard.kit.launch import Launch


class Settings(msgspec.Struct, frozen=True):
    """The table [witness]."""

    mode: Literal["auto", "require", "off"] = "auto"
    says: str = "seen"


class Witness:
    def __init__(self, settings: Settings) -> None:
        self._says = settings.says

    def __call__(self, launch: Launch) -> Launch:
        env = {name: value for name, value in (launch.env or {}).items() if not name.endswith("_TOKEN")}
        return msgspec.structs.replace(launch, argv=("env", f"WITNESS={self._says}", *launch.argv), env=env)


def launcher(settings: Settings) -> Witness:
    return Witness(settings)
