"""A renderer: draws what somebody else's tool returns."""

from pegboard import hookimpl
from pegboard.blocks import Table
from pegboard_csv import Columns


def draw(found: Columns):
    return [Table(columns=["column", "name"], rows=[[str(n), name] for n, name in enumerate(found.names, 1)])]


@hookimpl
def pegboard_renderers():
    return {Columns: draw}
