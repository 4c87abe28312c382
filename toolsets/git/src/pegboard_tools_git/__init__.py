"""Git for agents: the sets `git` (`reads`, read-only) and `git-write` (`writes`, always asking)."""
