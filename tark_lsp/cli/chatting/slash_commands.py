"""The table of the terminal chat's slash commands. `/help`, completion and dispatch use its rows."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from tark_lsp.cli.chatting.completion import CompletionWords
from tark_lsp.errors import RequestError


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One slash command.

    usage          the command with its argument, as `/help` shows it
    run(argument)  runs the command
    words          completions of the argument
    idle           whether the command cannot run during a turn
    at_once        whether it runs without waiting for prompts and commands that were sent before it
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
        """None if the text is a prompt. A prompt can also start with a slash, if it names one of the user's prompts."""
        return self._rows.get(text.split(maxsplit=1)[0]) if text.startswith("/") else None

    async def run_command(self, row: SlashCommand, text: str) -> None:
        """Raises the command's errors, and RequestError if the command cannot run during a turn."""
        async with contextlib.nullcontext() if row.at_once else self._in_order:
            if row.idle and self._busy():
                raise RequestError(f"{row.name} cannot run during a turn", hint="wait for its end, or /cancel it")
            await row.run(text[len(row.name) :].strip())

    def completions(self) -> Mapping[str, tuple[str, CompletionWords | None]]:
        """By name: the description of each command, and the completions of its argument."""
        return {name: (row.about, row.words) for name, row in self._rows.items()}

    def help(self) -> list[str]:
        width = max(len(row.usage) for row in self._rows.values())
        return [f"{row.usage:{width}}  {row.about}" for row in self._rows.values()]
