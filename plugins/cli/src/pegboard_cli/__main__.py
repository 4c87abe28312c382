"""`python -m pegboard_cli`: the same as `pegboard`.

Python puts the current folder before everything else on the path for `-m`. That is the workspace, whose `json.py` is not
ours to import; so it goes before anything is imported that does not stand in the interpreter itself.
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from pegboard_cli.main import main

sys.exit(main())
