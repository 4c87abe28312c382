"""From blocks to lines of cells: everything that comes from a model, a tool or a file is made safe here.

`lines(block, look)` draws one block, `rows(item, look)` a whole item of the transcript. Nothing here is a widget or knows
the loop, and the same block under the same look is always the same lines. What is kept are answers that still grow
(`markdown.Growing`: each finished part is set once), and small bounded caches.
"""
