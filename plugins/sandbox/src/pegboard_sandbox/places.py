"""What of a workspace and of a home folder a program in the sandbox may not write, read or make.

Paths are real ones: what is mounted over a link would lie where the link leads, and the link itself could be replaced.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pegboard.errors import ToolError

HOME_SECRETS = (
    *(
        ".ssh",
        ".aws",
        ".gnupg",
        ".azure",
        ".kube",
        ".oci",
        ".password-store",
        ".databricks",
        ".terraform.d",
        ".terraformrc",
        ".electrum",
    ),
    *(
        ".config/gcloud",
        ".config/gh",
        ".config/glab-cli",
        ".config/hub",
        ".config/op",
        ".config/doctl",
        ".config/rclone",
    ),
    *(".config/github-copilot", ".config/git/credentials", ".config/google-chrome", ".config/chromium", ".mozilla"),
    *(
        ".config/BraveSoftware",
        ".thunderbird",
        ".local/share/keyrings",
        ".local/share/kwalletd",
        ".bitcoin",
        ".ethereum",
    ),
    *(".docker/config.json", ".docker/run", ".dockercfg", ".netrc", "_netrc", ".git-credentials", ".pgpass", ".my.cnf"),
    *(".mylogin.cnf", ".boto", ".s3cfg", ".vault-token", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml", ".npmrc", ".pypirc", ".yarnrc.yml", ".hgrc"),
    *(".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history"),
    *(".local/share/fish/fish_history", ".claude", ".codex", ".gemini", ".config/openai", ".config/anthropic"),
    *("Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome"),
)
"""Below the home folder: whatever opens a door elsewhere. Folders with all that is in them."""

HOME_STARTS = (
    *(
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
    ),
    *(
        ".config/fish",
        ".config/autostart",
        ".config/systemd",
        ".config/git",
        ".gitconfig",
        ".inputrc",
        ".vimrc",
        ".vim",
    ),
    *(
        ".config/nvim",
        ".emacs",
        ".emacs.d",
        ".tmux.conf",
        ".local/bin",
        "bin",
        ".cargo/bin",
        ".config/direnv",
        ".pdbrc",
    ),
    *(".local/share/applications", ".vscode", ".pam_environment", ".xprofile", ".xinitrc", "Library/LaunchAgents"),
)
"""Below a home folder that is itself the workspace, or in it: what the person's own programs run or obey."""

SYSTEM_SECRETS = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssl/private", "/etc/ssh", "/etc/krb5.keytab", "/var/lib/docker", "/var/spool/cron"),
)

BLANK = frozenset({".npmrc", ".pypirc", ".yarnrc.yml"})
"""Programs that read these give up when they may not; they find them empty."""

SECRET_SUFFIXES = (".pem", ".key", ".p8", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx")
SECRET_NAMES = frozenset(
    {".netrc", "_netrc", ".pgpass", ".my.cnf", ".htpasswd", ".boto", ".s3cfg", ".vault-token", ".git-credentials"}
    | {".npmrc", ".pypirc", ".yarnrc.yml", ".dockercfg", "application_default_credentials.json", ".envrc"}
    | {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store"}
)
"""Names that are kept from being read anywhere in a workspace."""
_SHARED = (".example", ".sample", ".template", ".tpl", ".dist")

NEVER_MADE = (".envrc", ".pegboard", ".git")
"""In the workspace root: what tools of the person obey, so that a command may not bring it about."""


def is_secret(name: str) -> bool:
    """Whether a file or folder of this name is kept from being read."""
    name = name.lower()
    if name.startswith(".env") and (len(name) == 4 or name[4] in "._-"):
        return not name.endswith(_SHARED)
    return name in SECRET_NAMES or name.endswith(SECRET_SUFFIXES)


@dataclass(slots=True)
class Plan:
    """What is mounted, by path. `writable` and `read_only` are what they are outside; `dark` cannot be read, `blank` is an
    empty file, `bare` an empty folder with further places in it. `stand_ins`: what is made for the time of the run."""

    writable: set[str] = field(default_factory=set)
    read_only: set[str] = field(default_factory=set)
    dark: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    stand_ins: dict[str, str | None] = field(default_factory=dict)

    def hide(self, path: str) -> None:
        """Keep it from being read, where it is there."""
        real = os.path.realpath(path)
        if os.path.basename(path) in BLANK and os.path.isfile(real):
            self.blank.add(real)
        elif os.path.exists(real):
            self.dark.add(real)

    def pin(self, root: str, path: str) -> None:
        """Keep the folders between `root` and `path` from being renamed: what is mounted on below them moves along."""
        folder = os.path.dirname(path)
        while is_inside(folder, root) and folder != root:
            self.writable.add(folder)
            folder = os.path.dirname(folder)

    def settle(self, shown: Iterable[str]) -> None:
        """One kind for each path, the strictest; what is in something dark and is to be there nonetheless stays."""
        shown = {os.path.realpath(path) for path in shown}
        self.dark -= shown
        self.blank -= shown
        self.read_only |= {
            path for path in shown if os.path.exists(path) and any(is_inside(path, d) for d in self.dark)
        }
        kept = self.writable | self.read_only
        self.bare |= {path for path in self.dark if any(is_inside(other, path) and other != path for other in kept)}
        self.dark -= self.bare
        self.blank -= self.dark
        self.read_only = (self.read_only | self.stand_ins.keys()) - self.dark - self.blank
        self.writable -= self.dark | self.blank | self.read_only


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def expanded(path: str, home: str, root: str) -> str:
    """A path of the settings: `~` is the home folder, and what is not absolute begins at the workspace."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(root, path))


def homes() -> list[str]:
    """The person's home folder: as the environment has it, and as the system does."""
    found = [os.path.expanduser("~")]
    with suppress(ImportError, KeyError):
        import pwd

        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    return list(dict.fromkeys(os.path.realpath(path) for path in found if os.path.isabs(path) and path != "/"))


def home_secrets(plan: Plan, home: str, hidden: Sequence[str]) -> None:
    """The secrets of a person and of the system, and what the caller hides."""
    for path in (*(f"{home}/{name}" for name in HOME_SECRETS), *SYSTEM_SECRETS, *hidden):
        plan.hide(path)


def own_starts(plan: Plan, root: str, home: str) -> None:
    """Where the workspace has the home folder in it: what starts by itself there."""
    if is_inside(home, root):
        for name in HOME_STARTS:
            path = f"{home}/{name}"
            if os.path.exists(path):
                plan.read_only.add(os.path.realpath(path))


def solid(path: str) -> str | None:
    """What a protected path is: `dir`, `file`, or None where it is not there.

    Raises:
        ToolError: it is a link, which nothing can be mounted over: it could be replaced.
    """
    if os.path.islink(path):
        raise ToolError(
            f"{path} is a link, which the sandbox cannot keep from being replaced. Nothing was run. Put what it leads to in "
            "its place, or run it outside of the sandbox."
        )
    if os.path.isdir(path):
        return "dir"
    return "file" if os.path.lexists(path) else None
