"""Lends the terminal to other programs: to the shell after Ctrl-Z, and to the user's editor after Ctrl-X Ctrl-E."""

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
    """Suspends this process until the shell's `fg`. The server has its own process group, so its turn continues. Its
    output is shown after `fg`. Raises RequestError on Windows.
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
    """Stops the whole process group. Otherwise a parent such as `uv run` would keep the shell waiting."""
    if sys.platform != "win32":
        os.kill(0, signal.SIGTSTP)
