"""The slash command `/permissions`: lists the permissions that the user gave, and revokes those that they select."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.visible import one_line, whole_line
from tark_lsp.errors import RequestError

REVOKE = "numbers to revoke, or all (Enter: none): "


class PermissionCommands:
    def __init__(self, conversation: Conversation, keyboard: AnswerInput) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._keyboard = keyboard

    async def permissions(self, _: str) -> None:
        listed: Sequence[Mapping[str, Any]] = (await self._chat.command("tark.permissions.list"))["permissions"]
        if not listed:
            self._screen.print_line("you allowed nothing in this folder beyond single calls", "dim")
            return
        for number, one in enumerate(listed, 1):
            where = f"{one_line(one['folder'])}: " if one.get("folder") else ""
            replaced = "" if one["holds"] else " (the folder was replaced)"
            self._screen.print_line(f"{number:3}  {where}{whole_line(one['covers'])}{replaced}")
        typed = await self._keyboard.ask(REVOKE)
        if not typed:
            return
        chosen = listed if typed.strip().lower() == "all" else _picked(listed, typed)
        ids = [one["id"] for one in chosen]
        revoked = (await self._chat.command("tark.permissions.revoke", {"ids": ids}))["revoked"]
        self._screen.print_line(f"revoked {len(revoked)}: running turns ask again, too")


def _picked(listed: Sequence[Mapping[str, Any]], typed: str) -> list[Mapping[str, Any]]:
    """Raises RequestError if one of the words is not a number of the list."""
    words = typed.replace(",", " ").split()
    numbers = [int(word) if word.isascii() and word.isdecimal() else 0 for word in words]
    if not all(1 <= number <= len(listed) for number in numbers):
        raise RequestError(f"{one_line(typed)!r} is not in the list: nothing was revoked", hint="type numbers of it")
    return [listed[number - 1] for number in numbers]
