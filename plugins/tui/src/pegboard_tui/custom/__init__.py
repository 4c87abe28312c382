"""Plugins' own widgets for their own blocks, without their hands on the app.

A plugin names a widget for its kind of `Custom` block in the group `pegboard_tui.widgets`. It runs in a process of its own,
in an app that holds nothing else (`child`); what it paints comes here as lines, is made safe and shown over the transcript
(`framed`, `stage`). So it may raise, hang, crash, take every key or ask for a million lines: the block is shown plain then.
"""
