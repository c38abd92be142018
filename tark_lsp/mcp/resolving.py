"""Resolver: caches what a server's configuration resolves to, until a file that it depends on changes.

A turn checks several times whether each server is as it was approved. A server that is about to start is always
resolved again.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve

State: TypeAlias = tuple[int, ...] | None
"""The device, inode, size, mtime and ctime of a file. No program can set the ctime. None: the file does not exist."""


class Resolver:
    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._known: tuple[tuple[Path, ...], tuple[State, ...], Resolved] | None = None

    def resolve(self, folders: Sequence[Path]) -> Resolved:
        """Raises McpError if the server cannot be started as it is configured."""
        if self._known is not None:
            places, states, resolved = self._known
            if places == tuple(folders) and states == self._states(resolved):
                return resolved
        resolved = resolve(self._config, folders)
        self._known = tuple(folders), self._states(resolved), resolved
        return resolved

    def _states(self, resolved: Resolved) -> tuple[State, ...]:
        """The states of the folder, the program, and all files that the words of the command can name."""
        if resolved.url:
            return ()
        words = (os.path.join(resolved.cwd, word) for word in resolved.argv)  # noqa: PTH118  # faster
        return tuple(_state(path) for path in (str(resolved.cwd), *words))


def _state(path: str) -> State:
    try:
        status = os.stat(path)  # noqa: PTH116  # faster
    except (OSError, ValueError):  # the word does not name a file
        return None
    if stat.S_ISDIR(status.st_mode):  # a change in a folder does not matter
        return status.st_dev, status.st_ino
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
