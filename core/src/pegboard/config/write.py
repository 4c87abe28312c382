"""Changing the user's own settings file: one key at a time, and nothing else in it. Comments and order survive.

What is written was read back first: the file as it would be must parse, load, and differ in that key alone.
"""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pegboard.config.checking import complaint, insist
from pegboard.config.layers import Said, at, of_file, of_text, put
from pegboard.errors import ConfigError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

UNCHANGED = "nothing was changed"
Check = Callable[[Said], None]
"""Looks at the file as it would be. Raises ConfigError where it must not be so."""


def set_key(file: Path, key: tuple[str, ...], value: Any, check: Check = insist) -> None:
    """Set one key in the user's file, which is made with its folder if it is missing.

    Raises:
        ConfigError: the file is no TOML, or what it says would be wrong afterwards, or it cannot be written; nothing was
            changed.
    """

    _change(file, key, lambda values: _expect(values, key, value), lambda text: _with(text, key, value), check)


def unset_key(file: Path, key: tuple[str, ...], check: Check = insist) -> bool:
    """Take one key (or table) out of the user's file. False: it does not stand there.

    Raises:
        ConfigError: as `set_key`.
    """
    said = of_file(file)
    if said is None or at(said.values, key) is None:
        return False

    _change(file, key, lambda values: _expect(values, key, None), lambda text: _without(text, key), check)
    return True


def add_tables(
    file: Path, key: tuple[str, ...], tables: Sequence[dict[str, Any]], remark: str, check: Check = insist
) -> str:
    """Add tables to the array of tables at a key (`[[permission.rules]]`) of the user's file, at its end and below a
    remark; those that are there already are left out. Returns the text of the file as it is then.

    Raises:
        ConfigError: as `set_key`.
    """
    fresh: list[dict[str, Any]] = []

    def expect(values: dict[str, Any]) -> None:
        there = at(values, key)
        there = there if isinstance(there, list) else []
        fresh.extend(table for table in tables if table not in there)
        if fresh:
            put(values, key, [*there, *fresh])

    return _change(file, key, expect, lambda text: _with_tables(text, key, fresh, remark), check)


def create(file: Path, text: str) -> bool:
    """Write a first settings file, with its folder. False: there is one already, and nothing was changed.

    Raises:
        ConfigError: it cannot be written.
    """
    with _told(file), _alone(file):
        if os.path.lexists(file):
            return False
        _replace(file, text)
        return True


def _change(
    file: Path,
    key: tuple[str, ...],
    expect: Callable[[dict[str, Any]], None],
    change: Callable[[str], str],
    check: Check,
) -> str:
    """Change the text of the file, see that nothing but the key is different, and write it. `expect`: makes of what the
    file says what it is to say."""
    from tomlkit.exceptions import TOMLKitError

    with _told(file), _alone(file):
        before = of_file(file)  # whatever its values are: this key's may be what is to be mended
        text = file.read_bytes().decode("utf-8") if before is not None else ""
        wanted = copy.deepcopy(before.values) if before is not None else {}
        expect(wanted)
        try:
            new = change(text)
            kept = _pruned(tomllib.loads(new), key) == _pruned(wanted, key) and _comments(text) <= _comments(new)
        except (TOMLKitError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError):
            kept = False  # a form that tomlkit cannot change without disturbing others
        if not kept:
            raise ConfigError(
                f"{'.'.join(key)} cannot be written without disturbing what else stands in the file; {UNCHANGED}. "
                "Edit the file by hand.",
                file=str(file),
            )
        try:
            check(of_text(new, str(file)))
        except ConfigError:
            wrong = complaint(before.values) if before is not None else None
            if before is not None and wrong is not None and wrong[0] != key:
                insist(before)  # the line as it stands now, not as it would
            raise
        if new != text or before is None:
            _replace(file, new)
        return new


def _with(text: str, key: tuple[str, ...], value: Any) -> str:
    """The text with one key set. A new one goes behind the last key of its table, before the comments on what follows."""
    import tomlkit

    document = tomlkit.parse(text)
    if len(key) == 1 and key[0] not in document:
        return _on_top(text, f"{tomlkit.key(key[0]).as_string()} = {tomlkit.item(value).as_string()}\n")
    table: Any = document
    for depth, part in enumerate(key[:-1]):
        if not isinstance(table.get(part), dict):
            table[part] = tomlkit.table(is_super_table=depth < len(key) - 2)
        table = table[part]
    trailing: list[Any] = []
    if key[-1] not in table and isinstance(table, tomlkit.items.Table):
        body = table.value.body
        while body and body[-1][0] is None:
            trailing.insert(0, body.pop()[1])
    table[key[-1]] = value
    for item in trailing:
        table.add(item)
    return tomlkit.dumps(document)


def _with_tables(text: str, key: tuple[str, ...], tables: Sequence[dict[str, Any]], remark: str) -> str:
    """The text with further tables of an array at its end; where that is written as `[{...}]`, they go in there."""
    import tomlkit

    if not tables:
        return text
    document = tomlkit.parse(text)
    there: Any = document
    for part in key:
        there = there.get(part) if isinstance(there, dict) else None
    if isinstance(there, tomlkit.items.Array):
        for table in tables:
            inline = tomlkit.inline_table()
            inline.update(table)
            there.append(inline)
        return tomlkit.dumps(document)
    header = f"[[{'.'.join(tomlkit.key(part).as_string() for part in key)}]]\n"
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    written = [f"{header}{tomlkit.dumps(table)}" for table in tables]
    return f"{text}{gap}# {remark}\n" + "\n".join(written)


def _on_top(text: str, line: str) -> str:
    """The text with a new line before its first table, and before the comment on that."""
    lines = text.splitlines(keepends=True)
    first = next((number for number, one in enumerate(lines) if one.lstrip().startswith("[")), None)
    if first is None:
        return text + ("\n" if text and not text.endswith("\n") else "") + line
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    gap = "" if first and not lines[first - 1].strip() else "\n"
    # Behind the keys that are there, not behind the blank line that sets the table apart.
    while gap == "" and first and not lines[first - 1].strip():
        first -= 1
    return "".join([*lines[:first], line, gap, *lines[first:]])


def _without(text: str, key: tuple[str, ...]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document
    above = []
    for part in key[:-1]:
        above.append((table, part))
        table = table[part]
    del table[key[-1]]
    while above and _says_nothing(table):
        table, part = above.pop()
        del table[part]
    return tomlkit.dumps(document)


def _says_nothing(table: Any) -> bool:
    """Whether a table `[...]` holds nothing, and no comment either."""
    from tomlkit.items import Table

    return isinstance(table, Table) and not table.as_string().strip() and not table.trivia.comment


def _pruned(values: dict[str, Any], key: tuple[str, ...]) -> dict[str, Any]:
    """The values without the tables above a key that hold nothing: there or not, they say the same."""
    inner = values.get(key[0])
    if len(key) == 1 or not isinstance(inner, dict):
        return values
    below = _pruned(inner, key[1:])
    return {name: below if name == key[0] else value for name, value in values.items() if name != key[0] or below}


def _expect(values: dict[str, Any], key: tuple[str, ...], value: Any) -> None:
    """What the file must say afterwards."""
    if value is not None:
        put(values, key, value)
        return
    inner: Any = values
    for part in key[:-1]:
        inner = inner[part]
    del inner[key[-1]]


def _comments(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if line.lstrip().startswith("#")}


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """What the system says is told as our own kind of error. What was to be written is written whole or not at all."""
    try:
        yield
    except ConfigError as error:
        text = str(error).replace("nothing was started", UNCHANGED)
        raise ConfigError(text if UNCHANGED in text else f"{text}; {UNCHANGED}") from None
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(
            f"cannot be written ({why}); {UNCHANGED}. See to it that you may write that file and its folder.",
            file=str(file),
        ) from None


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """One process at a time changes the file. The lock is the folder itself, so nothing is left behind."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _replace(file: Path, text: str) -> None:
    """Write the whole file in one step. A link is followed, its mode kept; a new file is for its owner alone."""
    target = Path(os.path.realpath(file))
    try:
        mode = os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        mode = 0o600
    beside = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "wb") as new:
            os.fchmod(new.fileno(), mode)
            new.write(text.encode("utf-8"))
            new.flush()
            os.fsync(new.fileno())
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
