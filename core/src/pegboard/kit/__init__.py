"""What tools stand on, and tool sets share: the workspace's door, processes, output, edits, search.

It knows no board: everything it needs is passed in.
"""
