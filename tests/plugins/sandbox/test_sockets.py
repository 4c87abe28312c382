"""Which sockets of programs outside are covered: those that are there."""

from __future__ import annotations

import socket
from pathlib import Path

from pegboard_sandbox.sockets import listening

HEADER = "Num       RefCount Protocol Flags    Type St Inode Path\n"


def test_what_listens_and_is_still_a_socket_is_named_however_many_there_are(tmp_path: Path) -> None:
    there = [tmp_path / f"s {number}" for number in range(300)]
    for path in there:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    others = [tmp_path / "gone", tmp_path / "file", tmp_path / "folder", tmp_path / "file/x"]
    table = tmp_path / "unix"
    rows = [f"0000000000000000: 00000002 00000000 00010000 0001 01 4711 {path}\n" for path in (*there, *others)]
    connected = f"0000000000000000: 00000003 00000000 00000000 0001 03 4712 {tmp_path}/s 0\n"
    table.write_text("".join((HEADER, *rows, connected, "0000000000000000: 2 0 00010000 0001 01 4713 @abstract\n")))

    assert listening(str(table)) == sorted(map(str, there))
    assert listening(str(tmp_path / "none")) == []
