"""What is protected without anyone asking: decision 9, and what is plainly of the same kind.

The core holds the names, since its tables of commands go by them too.
"""

from __future__ import annotations

from pegboard.policy.shell.protected_names import CI_FILES as CI_FILES
from pegboard.policy.shell.protected_names import CI_FOLDERS as CI_FOLDERS
from pegboard.policy.shell.protected_names import OWN_FOLDERS as OWN_FOLDERS
from pegboard.policy.shell.protected_names import SECRET_FILES as SECRET_FILES
from pegboard.policy.shell.protected_names import SECRET_FOLDERS as SECRET_FOLDERS
from pegboard.policy.shell.protected_names import SECRET_SUFFIXES as SECRET_SUFFIXES
from pegboard.policy.shell.protected_names import SHARED as SHARED
from pegboard.policy.shell.protected_names import VERSION_CONTROL as VERSION_CONTROL
