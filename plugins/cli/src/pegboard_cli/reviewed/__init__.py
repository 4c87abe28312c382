"""Plugins are installed after a look at what they declare, and pinned as they were looked at.

wheel        a wheel's files and metadata, read with limits; nothing of it runs
review       what a package declares, and what is new in it since the installed version
lines        the same for a person
environment  the environment that Pegboard runs from, and what installs into it: pip, uv, pipx, uv tool
fetch        gets the wheel, without installing it
coming       which dependencies would come
lock         what was installed, by version and hash; whether it is still so
install      the way through these: fetch, show, ask, install, keep
info         what an installed one declares
"""
