"""The slash commands that go back and forth: /undo, /redo and /restore."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import ChatInput, Conversation
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError

MAX_LISTED = 30
Answer = Mapping[str, Any]


class UndoCommands:
    def __init__(self, conversation: Conversation, terminal: ChatInput) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._terminal = terminal

    async def undo(self, _: str) -> None:
        await self._run("undo", "restored ", "the last turn changed no file, or is undone already")

    async def redo(self, _: str) -> None:
        await self._run("redo", "redone   ", "nothing of the last turn is undone")

    async def restore(self, _: str) -> None:
        """Lists the prompts, and goes back to before the one that the user picks."""
        session = self._chat.session.require_id()
        prompts = _prompts(await self._chat.command("tark.session.open", {"sessionId": session}))[-MAX_LISTED:]
        for number, (_, text) in enumerate(prompts, 1):
            self._screen.print_line(f"{number:3}  {one_line(text, 80)}", "none")
        typed = await self._terminal.ask("number of the prompt to go back to (Enter: none): ")
        if not typed:
            return
        if not (typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(prompts)):
            raise RequestError(f"{one_line(typed)} is not one of these numbers")
        argument = {"sessionId": session, "messageId": prompts[int(typed) - 1][0]}
        files = await self._wants_files(argument)
        if files is None:
            return
        answer = await self._chat.command("tark.session.restore", {**argument, "files": files})
        await self._chat.current.open_session(answer["session"]["sessionId"])
        self._show(answer, "restored ")
        self._screen.print_line("this is a copy from before that prompt; the original session is unchanged", "bold")
        self._terminal.give_back(answer["prompt"])

    async def _wants_files(self, argument: Mapping[str, Any]) -> bool | None:
        """Shows what could be undone, and asks. False if there is nothing; None: the user wants neither."""
        foreseen = await self._chat.command("tark.session.restore", {**argument, "files": True, "preview": True})
        if not foreseen["restored"] and not foreseen["kept"]:
            return False
        self._show(foreseen, "to undo  ")
        for uri in foreseen["changedByCommand"]:
            name = self._screen.file_name(uri)
            self._screen.print_line(f"stays     {name}: a command changed it, which is not undone", "yellow")
        typed = await self._terminal.ask("Undo these changes too? [y]es, [n]o, [d]o nothing: ", "ynd")
        return typed == "y" if typed in ("y", "n") else None

    async def _run(self, name: str, verb: str, nothing: str) -> None:
        turn = self._chat.session.last_turn
        if turn is None:
            raise RequestError(f"there is no turn to {name} in this session", hint="tark-lsp undo lists all turns")
        answer = await self._chat.command(f"tark.turn.{name}", {"turnId": turn})
        self._show(answer, verb)
        if not answer["restored"] and not answer["kept"]:
            self._screen.print_line(nothing, "dim")

    def _show(self, answer: Answer, verb: str) -> None:
        for uri in answer["restored"]:
            self._screen.print_line(f"{verb} {self._screen.file_name(uri)}", "green")
        for file in answer["kept"]:
            name, reason = self._screen.file_name(file["uri"]), visible(file["reason"])
            self._screen.print_line(f"kept      {name}: {reason}", "yellow")


def _prompts(opened: Answer) -> Sequence[tuple[str, str]]:
    """The id and the text of each message that began a turn."""
    begun: set[str] = set()
    found = []
    for message in opened["messages"]:
        turn = message["turnId"]
        if message["role"] == "user" and message.get("messageId") and (not turn or turn not in begun):
            found.append((message["messageId"], message["text"]))
        begun.add(turn)
    return found
