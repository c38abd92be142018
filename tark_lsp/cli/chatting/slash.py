"""The slash commands of the terminal chat: one row each; `/help`, completion and dispatch are made from the rows."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from tark_lsp.cli.chatting.completing import Words
from tark_lsp.errors import RequestError


@dataclass(frozen=True, slots=True)
class Slash:
    """`words`: the command with its argument as `/help` shows it. `run(argument)`. `follows`: what may be typed after
    it. `idle`: not while a turn runs. `at_once`: it waits for nothing that was sent before it."""

    words: str
    about: str
    run: Callable[[str], Awaitable[None]]
    follows: Words | None = None
    idle: bool = False
    at_once: bool = False

    @property
    def name(self) -> str:
        return self.words.split()[0]


class SlashCommands:
    """`in_order` is held while a command runs (Conversation)."""

    def __init__(self, rows: Sequence[Slash], busy: Callable[[], bool], in_order: asyncio.Lock) -> None:
        self._rows = {row.name: row for row in rows}
        self._busy = busy
        self._in_order = in_order

    def find(self, text: str) -> Slash | None:
        """None: it is a prompt, though perhaps one that begins with the name of a prompt of the person's own."""
        return self._rows.get(text.split(maxsplit=1)[0]) if text.startswith("/") else None

    async def run(self, row: Slash, text: str) -> None:
        """Raises what the command raises; RequestError where a turn runs and must not."""
        async with contextlib.nullcontext() if row.at_once else self._in_order:
            if row.idle and self._busy():
                raise RequestError(f"{row.name}: not while a turn runs", hint="wait for its end, or /cancel it")
            await row.run(text[len(row.name) :].strip())

    def completions(self) -> Mapping[str, tuple[str, Words | None]]:
        return {name: (row.about, row.follows) for name, row in self._rows.items()}

    def help(self) -> list[str]:
        width = max(len(row.words) for row in self._rows.values())
        return [f"{row.words:{width}}  {row.about}" for row in self._rows.values()]
