"""The core tool set: read, write and edit files, find and search them, run commands."""
