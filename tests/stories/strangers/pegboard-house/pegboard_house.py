"""A fragment of the system prompt: the rules of a house."""

import msgspec
from pegboard import hookimpl
from pegboard.hooks import Fragment


class Settings(msgspec.Struct, frozen=True):
    """The table [house]."""

    rule: str = "Shoes off."


@hookimpl
def pegboard_prompt(settings):
    return [Fragment(text=f"Rule of this house: {settings.rule}")]
