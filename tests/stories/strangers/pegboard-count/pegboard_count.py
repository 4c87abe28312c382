"""A slash command: `/count WORDS`."""

from pegboard.blocks import Note
from pegboard.slash import Slash

count = Slash(
    usage="/count WORDS",
    help="count words",
    run=lambda said: [Note(text=f"{len(said.rest.split())} words on the slate")],
)
