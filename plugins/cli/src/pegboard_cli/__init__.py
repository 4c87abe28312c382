"""The `pegboard` command. See `pegboard_cli.main`; nothing is imported here."""
