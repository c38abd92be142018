"""The events of the review. To listen: `reviews.events.listen(listener)`."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tark_lsp.listeners import Listeners


@dataclass(frozen=True, slots=True)
class HunksChanged:
    """Hunks of the file were proposed or decided."""

    path: Path


@dataclass(frozen=True, slots=True)
class HunksMoved:
    """The user types around the hunks of the file."""

    path: Path


@dataclass(frozen=True, slots=True)
class TextWritten:
    """An edit by Tark was written to the file."""

    path: Path
    was_clean: bool
    """The file was open, with no unsaved changes."""


ReviewEvent: TypeAlias = HunksChanged | HunksMoved | TextWritten


class ReviewEvents(Listeners[ReviewEvent]):
    def __init__(self) -> None:
        super().__init__()
        self._next_change: asyncio.Future[None] | None = None

    def emit(self, event: ReviewEvent) -> None:
        if self._next_change is not None and isinstance(event, HunksChanged):
            self._next_change.set_result(None)
            self._next_change = None
        super().emit(event)

    async def next_change(self) -> None:
        """Wait until hunks of any file are proposed or decided."""
        if self._next_change is None:
            self._next_change = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._next_change)
