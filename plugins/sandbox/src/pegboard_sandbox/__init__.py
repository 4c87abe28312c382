"""A sandbox for the programs that tools start.

settings   the table `[sandbox]`
sandbox    the launcher: what a program becomes, whether that works here, what stopped it
places     what of a workspace and of a home folder is kept from being written, read or made
names      which names and places hold secrets
gitdirs    the same of a repository: what git would run
gitconfig  paths that settings of git name
scanning   the same further down in a workspace
variables  what of the environment a program gets
bubblewrap Linux: the command line, and a try
sockets    Linux: sockets of programs outside
seatbelt   macOS: the profile
stops      why a program failed, by what it printed
"""

from __future__ import annotations

from pegboard_sandbox.sandbox import Sandbox as Sandbox
from pegboard_sandbox.settings import Settings as Settings
