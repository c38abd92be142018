"""Programs that use the terminal for a while: the shell after Ctrl-Z, and your editor after Ctrl-X Ctrl-E."""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Protocol

from prompt_toolkit.buffer import Buffer

from tark_lsp.cli.editor import edit_text
from tark_lsp.errors import RequestError


class Lender(Protocol):
    """The terminal. `hand_over(work)` lets another program use it while `work` runs."""

    @property
    def draft(self) -> Buffer: ...

    async def hand_over(self, work: Callable[[], Awaitable[str | None]]) -> str | None: ...


async def suspend(terminal: Lender) -> None:
    """Stops this process until the shell's `fg`. The server has a process group of its own, so its turn goes on, and
    what it writes meanwhile is shown after `fg`. Raises RequestError if the system cannot do that.
    """
    if sys.platform == "win32":
        raise RequestError("Windows cannot suspend a program", hint="open a second terminal")
    await terminal.hand_over(_stop)


async def edit_draft(terminal: Lender) -> None:
    """Raises RequestError if no editor is set, or it does not start."""
    draft = terminal.draft
    text = await terminal.hand_over(lambda: edit_text(f"{draft.text}\n", "prompt.md", "prompt"))
    if text is not None:
        draft.text = text.rstrip("\n")
        draft.cursor_position = len(draft.text)


async def _stop() -> None:
    """The whole group: a program that started us, such as `uv run`, would otherwise keep the shell waiting."""
    if sys.platform != "win32":
        os.kill(0, signal.SIGTSTP)
