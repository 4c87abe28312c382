"""What of the environment a program in the sandbox gets: no secrets, and no way to a service that would act for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_SECRET = re.compile(
    r"SECRET|TOKEN|PASSW(?:OR)?D|PASSPHRASE|PASSCODE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SIGNING_?KEY"
    r"|ENCRYPTION_?KEY|(?:^|_)AUTH(?:$|_)|_KEYS?$|^AWS_|^AZURE_|^GOOGLE_APPLICATION_|_DSN$|WEBHOOK|CONN(?:ECTION)?_?STR"
    r"|(?:^|_)(?:PASS|PWD|PW|PAT|PIN|CREDS?|JWT|BEARER|COOKIES?|OTP|MNEMONIC)(?:$|_)|(?<!COM)(?<!BY)PASS$|(?<!OLD)(?<!^)PWD$",
    re.IGNORECASE,
)
_PLACES = frozenset({"PWD", "OLDPWD"})
_SECRET_VALUE = re.compile(
    r"\b(?:gh[pousr]_\w{20}|github_pat_\w{20}|glpat-[\w-]{16}|xox[abeprs]-[\w-]{10}|sk-[\w-]{20}|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|npm_\w{30}|pypi-[\w-]{30}|hf_\w{20}|AIza[\w-]{30}|eyJ[\w-]{10,}\.eyJ[\w-]{10})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\b(?:password|pwd|accountkey|sharedaccesskey)=[^;\s]",
    re.IGNORECASE,
)
"""What services make their tokens look like, under whatever name."""
_SERVICES = re.compile(
    r"^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|GIT_ASKPASS|SUDO_ASKPASS|GPG_AGENT_INFO|GNUPGHOME|DBUS_.*|DISPLAY|XAUTHORITY"
    r"|WAYLAND_.*|XDG_RUNTIME_DIR|DOCKER_.*|CONTAINER_HOST|PODMAN_.*|KUBECONFIG|NETRC|NOTIFY_SOCKET|TMUX|STY"
    r"|VSCODE_.*(?:SOCK|IPC|HANDLE).*|ELECTRON_RUN_AS_NODE|PULSE_SERVER|PIPEWIRE_.*|LISTEN_(?:FDS|PID|FDNAMES))$"
)
_IN_URL = re.compile(r"://[^\s/@:]*:[^\s/@]+@")
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")


def passed(environ: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The variables without those that hold secrets or lead to services, by their names, or by what they hold.

    What is kept for later runs is not to be written (`~/.cache`), so that caches are made in the private tmp."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in keep or not (_is_secret(name, value) or _SERVICES.match(name))
    }
    for name in _TEMPORARY:
        if name in kept:
            kept[name] = "/tmp"
    kept.setdefault("TMPDIR", "/tmp")
    kept["XDG_CACHE_HOME"] = "/tmp/.cache"
    kept.setdefault("npm_config_cache", "/tmp/.cache/npm")
    kept.setdefault("GOCACHE", "/tmp/.cache/go-build")
    return kept


def _is_secret(name: str, value: str) -> bool:
    named = name not in _PLACES and _SECRET.search(name)
    return bool(named or _IN_URL.search(value) or _SECRET_VALUE.search(value))
