"""Pegboard as an app in the terminal, built with Textual.

It stands on `pegboard.events`, `pegboard.blocks`, `pegboard.port` and `pegboard.terminal` alone; `command`, which starts it,
is the one module that builds a board.
"""
