"""What of the environment a program in the sandbox gets: no secrets, and no way to a service that would act for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_SECRET = re.compile(
    r"SECRET|TOKEN|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY"
    r"|_AUTH$|^AUTH_|_KEY$|^AWS_|^AZURE_|^GOOGLE_APPLICATION_|_DSN$|WEBHOOK",
    re.IGNORECASE,
)
_SERVICES = re.compile(
    r"^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|GIT_ASKPASS|SUDO_ASKPASS|GPG_AGENT_INFO|GNUPGHOME|DBUS_.*|DISPLAY|XAUTHORITY"
    r"|WAYLAND_.*|XDG_RUNTIME_DIR|DOCKER_.*|CONTAINER_HOST|PODMAN_.*|KUBECONFIG|NETRC|NOTIFY_SOCKET|TMUX|STY"
    r"|VSCODE_.*(?:SOCK|IPC|HANDLE).*|ELECTRON_RUN_AS_NODE|PULSE_SERVER|PIPEWIRE_.*|LISTEN_(?:FDS|PID|FDNAMES))$"
)
_IN_URL = re.compile(r"://[^\s/@:]*:[^\s/@]+@")
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")


def passed(environ: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The variables without those that hold secrets or lead to services, by their names, or by an address with a password.

    What is kept for later runs is not to be written (`~/.cache`), so that caches are made in the private tmp."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in keep or not (_SECRET.search(name) or _SERVICES.match(name) or _IN_URL.search(value))
    }
    for name in _TEMPORARY:
        if name in kept:
            kept[name] = "/tmp"
    kept.setdefault("TMPDIR", "/tmp")
    kept["XDG_CACHE_HOME"] = "/tmp/.cache"
    kept.setdefault("npm_config_cache", "/tmp/.cache/npm")
    kept.setdefault("GOCACHE", "/tmp/.cache/go-build")
    return kept
