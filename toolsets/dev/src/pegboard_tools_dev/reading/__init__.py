"""Reading what test programs print. Each reader takes lines and gives a Report, or None where it is another's output.

Text is read rather than a report file asked for: it needs no option that a project's own configuration might not bear, and
no file outside of the workspace. What is not understood costs the counts, never the output.
"""
