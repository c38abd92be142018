"""Resolver: what a server is now, without looking everything up again while no file that decides it has changed.

A turn asks several times whether each server is as it was approved. What is about to start is looked up again.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from tark_lsp.mcp.server_config import Resolved, ServerConfig, resolve

State: TypeAlias = tuple[int, ...] | None
"""Of a file: device, inode, size, and the times of the last change of its content and of itself, which no program can
set. None: there is no such file."""


class Resolver:
    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._known: tuple[tuple[Path, ...], tuple[State, ...], Resolved] | None = None

    def resolve(self, folders: Sequence[Path]) -> Resolved:
        """Raises McpError if it cannot be started as it is configured."""
        if self._known is not None:
            places, states, resolved = self._known
            if places == tuple(folders) and states == self._states(resolved):
                return resolved
        resolved = resolve(self._config, folders)
        self._known = tuple(folders), self._states(resolved), resolved
        return resolved

    def _states(self, resolved: Resolved) -> tuple[State, ...]:
        """Of the folder, the program, and all that the words of its command can name."""
        if resolved.url:
            return ()
        words = (os.path.join(resolved.cwd, word) for word in resolved.argv)  # noqa: PTH118  # three times as fast
        return tuple(_state(path) for path in (str(resolved.cwd), *words))


def _state(path: str) -> State:
    try:
        status = os.stat(path)  # noqa: PTH116  # the same
    except (OSError, ValueError):  # a word that names no file
        return None
    if stat.S_ISDIR(status.st_mode):  # what is in it says nothing
        return status.st_dev, status.st_ino
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
