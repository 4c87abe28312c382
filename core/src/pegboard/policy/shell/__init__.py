"""Command lines: read as bash reads them, judged by what they would run. A line that is not sure does not pass."""

from pegboard.policy.shell.judge import read_line as read_line
from pegboard.policy.shell.line import Command as Command
from pegboard.policy.shell.line import Line as Line
from pegboard.policy.shell.line import Trouble as Trouble
from pegboard.policy.shell.line import Word as Word
from pegboard.policy.shell.matching import matches as matches
