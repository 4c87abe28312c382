"""A form: a front end's way to draw blocks, here in capitals."""

from pegboard.blocks import AnyBlock


def draw(blocks: list[AnyBlock], width: int) -> str:
    return "\n".join(str(getattr(block, "text", block)).upper()[:width] for block in blocks)
