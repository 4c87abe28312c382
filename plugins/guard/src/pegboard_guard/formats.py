"""Programs that make a file system or a partition table, and what they are asked when they only look."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pegboard_guard.doomed import Doomed

_MAKERS = re.compile(r"mkfs(?:\..*)?|mke2fs|mkswap|mkdosfs|mkntfs|mkexfatfs|mkudffs|newfs(?:_.*)?|blkdiscard|pvcreate")
_EXT = re.compile(r"mkfs\.ext[234]|mke2fs")
_HELP = frozenset(["-h", "--help", "--version", "-?"])
_LOOKS = {
    "wipefs": r"(?!)",
    "fdisk": r"-l.*|--list.*|-x|--list-details|-s|--getsz|-v|-V|--version",
    "cfdisk": r"-V|--version|-r|--read-only",
    "sfdisk": r"-l|--list|-d|--dump|-J|--json|-s|--show-size|-g|--show-geometry|-V|--verify|-n|--no-act|-v|--version|-F|-T|"
    r"--list-types|--list-free",
    "gdisk": r"-l",
    "sgdisk": r"-p|-v|-V|-i.*|-L|-P|-E|-f|-F|-D|--print|--verify|--info.*|--pretend|--list-types",
    "parted": r"-l|--list|-v|--version",
}
"""Options with which a program for partitions only looks."""
_CHANGES = {
    "wipefs": re.compile(r"-[a-z]*[ao].*|--all|--offset.*"),
    "sgdisk": re.compile(
        r"-[zZondtcgGRmurAbeNsxhjST].*|--(?:zap|clear|new|delete|mbrtogpt|replicate|randomize|load).*"
    ),
}
_PARTED = frozenset(["mklabel", "mktable", "mkpart", "rm", "resizepart", "name", "set", "toggle", "rescue", "disk_set"])
_VERBS = {
    "cryptsetup": ("luksFormat", "erase", "luksErase", "reencrypt"),
    "nvme": ("format", "sanitize", "write-zeroes"),
    "hdparm": ("--security-erase", "--security-erase-enhanced", "--trim-sector-ranges"),
    "zpool": ("create", "labelclear", "destroy"),
    "diskutil": ("eraseDisk", "eraseVolume", "zeroDisk", "partitionDisk", "secureErase"),
}


def formats(name: str, given: Sequence[str], operands: Sequence[str], doomed: Doomed) -> bool | None:
    """Whether a command formats a disk: True; None: it does not; False: what may be one, or a file that holds one.

    given: all its words; operands: those that are no options."""
    if not operands and name not in _VERBS:
        return None
    disk = any(word.startswith("/dev/") or doomed.device(word) for word in given)
    if _MAKERS.fullmatch(name):
        looks = _HELP.intersection(given) or (_EXT.fullmatch(name) and "-n" in given)
        return None if looks else disk
    if name in _VERBS:
        return (disk or name in ("zpool", "diskutil")) if set(_VERBS[name]).intersection(given) else None
    if name in _LOOKS and _partitions(name, given):
        return disk
    return None


def _partitions(name: str, given: Sequence[str]) -> bool:
    """Whether a program for partitions would change them."""
    options = [word for word in given if word.startswith("-")]
    if _HELP.intersection(options):
        return False
    if name == "parted":
        verbs = [word for word in given if word in _PARTED]
        return bool(verbs) or not ({"print", "help", "version"}.intersection(given) or {"-l", "--list"} & set(options))
    if name in _CHANGES:
        changes = any(_CHANGES[name].fullmatch(option) for option in options)
        return changes and not {"-n", "--no-act", "-P", "--pretend"}.intersection(options)
    return not any(re.fullmatch(_LOOKS[name], option) for option in options)
