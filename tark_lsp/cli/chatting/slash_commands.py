"""The slash commands of the terminal chat as rows. `/help`, completion and dispatch are made from the rows."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from tark_lsp.cli.chatting.completion import CompletionWords
from tark_lsp.errors import RequestError


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """`usage`: the command with its argument, as `/help` shows it. `run(argument)` runs it. `words`: completions of the
    argument. `idle`: it cannot run during a turn. `at_once`: it does not wait for anything that was sent before it.
    """

    usage: str
    about: str
    run: Callable[[str], Awaitable[None]]
    words: CompletionWords | None = None
    idle: bool = False
    at_once: bool = False

    @property
    def name(self) -> str:
        return self.usage.split()[0]


class SlashCommands:
    """`in_order` is held while a command runs (see `Conversation`)."""

    def __init__(self, rows: Sequence[SlashCommand], busy: Callable[[], bool], in_order: asyncio.Lock) -> None:
        self._rows = {row.name: row for row in rows}
        self._busy = busy
        self._in_order = in_order

    def find_command(self, text: str) -> SlashCommand | None:
        """None: it is a prompt, which can start with the name of one of the user's own prompts."""
        return self._rows.get(text.split(maxsplit=1)[0]) if text.startswith("/") else None

    async def run_command(self, row: SlashCommand, text: str) -> None:
        """Raises what the command raises, and RequestError if a running turn prevents the command."""
        async with contextlib.nullcontext() if row.at_once else self._in_order:
            if row.idle and self._busy():
                raise RequestError(f"{row.name} cannot run during a turn", hint="wait for its end, or /cancel it")
            await row.run(text[len(row.name) :].strip())

    def completions(self) -> Mapping[str, tuple[str, CompletionWords | None]]:
        """What each command does, and the completions of its argument, by name."""
        return {name: (row.about, row.words) for name, row in self._rows.items()}

    def help(self) -> list[str]:
        width = max(len(row.usage) for row in self._rows.values())
        return [f"{row.usage:{width}}  {row.about}" for row in self._rows.values()]
