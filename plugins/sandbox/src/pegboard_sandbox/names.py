"""Names and places that hold secrets, or that a person's programs run or obey."""

from __future__ import annotations

import re

from pegboard.policy.shell.protected_names import SECRET_FILES, SECRET_FOLDERS, SECRET_SUFFIXES, SHARED


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


HOME_SECRETS = (
    *_words("""
        .ssh .aws .gnupg .azure .kube .oci .password-store .databricks .databrickscfg .terraform.d .terraformrc .pki
        .config/gcloud .config/gh .config/glab-cli .config/hub .config/op .config/doctl .config/rclone .config/sops
        .config/age .config/hcloud .config/heroku .config/netlify .config/stripe .config/configstore .config/github-copilot
        .config/git/credentials .config/containers/auth.json .local/share/containers/auth.json .docker/config.json
        .docker/run .dockercfg .vercel .netlify .railway .supabase .snowflake .snowsql .fly/config.yml
        .modal.toml .kaggle .wandb .config/google-chrome
        .config/chromium .config/BraveSoftware .mozilla .thunderbird .config/Slack .config/discord
        .config/Signal .config/Bitwarden .local/share/keyrings .local/share/kwalletd .bitcoin .ethereum .electrum
        .cache/huggingface/token .cache/huggingface/stored_tokens .huggingface/token .streamlit/secrets.toml
        .netrc _netrc .git-credentials .pgpass .my.cnf .mylogin.cnf .boto .s3cfg .vault-token .vault_pass .htpasswd
        .msmtprc .config/msmtp .fetchmailrc .env .envrc .Xauthority .ICEauthority
        .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml .m2/settings-security.xml
        .gradle/gradle.properties .sbt/.credentials .ivy2/.credentials .composer/auth.json .config/composer/auth.json
        .npmrc .pypirc .yarnrc .yarnrc.yml .hgrc .config/pip/pip.conf .pip/pip.conf .config/pypoetry/auth.toml
        .local/share/uv/credentials .hex/hex.config
        .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history
        .rediscli_history .irb_history .lesshst .local/share/fish/fish_history
        .claude .claude.json .codex .gemini .config/openai .config/anthropic .aider.conf.yml
        Library/Keychains Library/Cookies Library/Messages Library/Mail Library/Safari
    """),
    *("Library/Application Support/Google/Chrome", "Library/Application Support/Firefox"),
)
"""Below the home folder: whatever opens a door elsewhere. Folders with all that is in them."""

HOME_STARTS = _words("""
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .config/fish .config/autostart .config/systemd .config/git .gitconfig .inputrc .vimrc .vim .config/nvim .emacs .emacs.d
    .tmux.conf .local/bin bin .cargo/bin .cargo/config.toml .config/direnv .pdbrc .gdbinit .lldbinit .pythonrc .psqlrc
    .local/share/applications .vscode .vscode-server .pam_environment .xprofile .xinitrc .xsession Library/LaunchAgents
""")
"""Below a home folder that is itself the workspace, or in it: what the person's own programs run or obey."""

SYSTEM_SECRETS = _words("""
    /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/ssh
    /etc/krb5.keytab /var/lib/docker /var/spool/cron
""")

_BLANK = tuple(
    f"/{end}" for end in _words(".npmrc .pypirc .yarnrc .yarnrc.yml .hgrc pip.conf gradle.properties .bundle/config")
)

_LISTED = (
    *SECRET_FILES,
    *SECRET_FOLDERS,
    *_words("""
        .yarnrc.yml .envrc credentials.tfrc.json .aws .kube .gcloud .config/containers/auth.json
        huggingface/token huggingface/stored_tokens
    """),
)
"""What the guard calls a secret, and what is one besides."""
_NAMES = frozenset(path for path in _LISTED if "/" not in path)
_PATHS = tuple(f"/{path}" for path in _LISTED if "/" in path)
_LAST = frozenset(path.rpartition("/")[2] for path in _PATHS)
_SUFFIXES = tuple(f".{suffix}" for suffix in SECRET_SUFFIXES)
_SHARED = tuple(f".{ending}" for ending in SHARED)
_SSH_KEY = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[-_][^.]*)?(?:\.(?:bak|old|orig))?|ssh_host_.+_key", re.DOTALL
)
"""`id_rsa`, `id_ed25519_sk`, `id_rsa-work`; but `id_rsa.pub` and `id_rsa_test.py` are no keys."""


def is_secret(path: str) -> bool:
    """Whether a file or folder is kept from being read, wherever it lies: by its name, or by the end of its path."""
    path = path.lower()
    name = path.rpartition("/")[2].rstrip("~")
    if name.startswith(".env") and not name[4:5].isalpha():
        return not name.endswith(_SHARED)
    if name in _NAMES or name.endswith(_SUFFIXES) or _SSH_KEY.fullmatch(name):
        return True
    return name in _LAST and f"/{path}".endswith(_PATHS)


def is_blank(path: str) -> bool:
    """Whether programs that read it give up when they may not: they find it empty."""
    return f"/{path}".endswith(_BLANK)
