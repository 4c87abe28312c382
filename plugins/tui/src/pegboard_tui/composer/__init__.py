"""Where the person writes: prompts, slash commands, files by name, commands of their own."""

from __future__ import annotations

from pegboard_tui.composer.composer import Composer as Composer
