"""Choosing a model provider: the entry named by the part of `model` before the slash, imported when it is chosen."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pegboard import plugins
from pegboard.config.schema import Config
from pegboard.entries import Entry
from pegboard.errors import ConfigError
from pegboard.models import Provider, ProviderSettings


def load_provider(model: str, entries: Iterable[Entry], config: Config, root: str) -> Provider:
    """The provider of `provider/model`.

    Raises:
        ConfigError: it is not installed, or does not load; what is installed is named.
    """
    name = model.split("/", 1)[0]
    installed = [entry for entry in entries if entry.group == "pegboard.providers"]
    entry = next((entry for entry in installed if entry.name == name), None)
    if entry is None:
        there = ", ".join(sorted(entry.name for entry in installed)) or "none"
        raise ConfigError(
            f"model {model!r}: no provider {name!r} is installed (installed: {there}); nothing was started"
        )
    try:
        make = plugins.import_guarded(entry)
        table = {key: value for key, value in config.providers.get(name, {}).items() if key not in ("name", "root")}
        made: Provider = make(msgspec.convert({**table, "name": name, "root": root}, ProviderSettings))
    except plugins.LoadProblem as problem:
        raise ConfigError(f"the provider {name!r} does not load: {problem}; nothing was started") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"[providers.{name}]: {error}; nothing was started") from None
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # isolates plugins: what makes a provider may raise anything
        raise ConfigError(
            f"the provider {name!r} cannot be used ({type(error).__name__}: {error}); nothing was started"
        ) from error
    return made
