"""Shows moved hunks once, after a pause, because hunks move with every key that the user types."""

import asyncio
from collections.abc import Callable
from pathlib import Path

PAUSE_SECONDS = 0.1


class MovedHunks:
    def __init__(self, show_hunks: Callable[[Path], None]) -> None:
        """`show_hunks(path)` shows the hunks of the file. Until then the editor moves its own marks with the text."""
        self._show_hunks = show_hunks
        self._moved: set[Path] = set()
        self._timer: asyncio.TimerHandle | None = None

    def show_soon(self, path: Path) -> None:
        self._moved.add(path)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._show_moved)

    def _show_moved(self) -> None:
        self._timer = None
        moved, self._moved = self._moved, set()
        for path in moved:
            self._show_hunks(path)
