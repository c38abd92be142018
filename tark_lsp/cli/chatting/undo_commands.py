"""The slash commands /undo, /redo and /restore."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import ChatInput, Conversation
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError

MAX_LISTED = 30
MOST_NAMED = 5
"""The most files of a turn that the list names."""
WRITTEN = ("applied", "partly")
"""States of an edit that changed its file."""
Answer = Mapping[str, Any]


class UndoCommands:
    def __init__(self, conversation: Conversation, terminal: ChatInput) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._terminal = terminal
        self._undone: dict[str | None, str] = {}
        """By session: the turn that /redo redoes."""

    async def undo(self, _: str) -> None:
        """Undoes the last turn. If it has nothing to undo, lists the earlier turns that can be undone."""
        session = self._chat.session
        if session.last_turn is None:
            raise RequestError("there is no turn to undo in this session", hint="tark-lsp undo lists all turns")
        if await self._undo(session.last_turn):
            return
        self._screen.print_line("the last turn changed no file, or is undone already", "dim")
        opened = await self._chat.command("tark.session.open", {"sessionId": session.require_id()})
        turns = [turn for turn in opened["turns"] if _can_be_undone(turn)][: -MAX_LISTED - 1 : -1]
        if not turns:
            return
        for number, turn in enumerate(turns, 1):
            self._screen.print_line(f"{number:3}  {one_line(turn['prompt'], 60)}  ({', '.join(self._changed(turn))})")
        if (picked := await self._pick("number of the turn to undo (Enter: none): ", len(turns))) is not None:
            await self._undo(turns[picked]["turnId"])

    async def redo(self, _: str) -> None:
        """Redoes the changes that the last /undo undid."""
        session = self._chat.session
        turn = self._undone.get(session.id) or session.last_turn
        if turn is None:
            raise RequestError("there is no turn to redo in this session")
        answer = await self._chat.command("tark.turn.redo", {"turnId": turn})
        self._show(answer, "redone   ")
        if not answer["restored"] and not answer["kept"]:
            self._screen.print_line("the last turn has nothing to redo", "dim")

    async def restore(self, _: str) -> None:
        """Lists the prompts, and goes back to the state before the prompt that the user selects."""
        session = self._chat.session.require_id()
        prompts = _prompts(await self._chat.command("tark.session.open", {"sessionId": session}))[-MAX_LISTED:]
        for number, (_, text) in enumerate(prompts, 1):
            self._screen.print_line(f"{number:3}  {one_line(text, 80)}", "none")
        picked = await self._pick("number of the prompt to go back to (Enter: none): ", len(prompts))
        if picked is None:
            return
        argument = {"sessionId": session, "messageId": prompts[picked][0]}
        files = await self._wants_files(argument)
        if files is None:
            return
        answer = await self._chat.command("tark.session.restore", {**argument, "files": files})
        await self._chat.current.open_session(answer["session"]["sessionId"])
        self._show(answer, "restored ")
        self._screen.print_line("this is a copy from before that prompt; the original session is unchanged", "bold")
        self._terminal.give_back(answer["prompt"])

    async def _wants_files(self, argument: Mapping[str, Any]) -> bool | None:
        """Shows the changes that can be undone, and asks whether to undo them. False if there are none; None to do
        nothing at all."""
        foreseen = await self._chat.command("tark.session.restore", {**argument, "files": True, "preview": True})
        if not foreseen["restored"] and not foreseen["kept"]:
            return False
        self._show(foreseen, "to undo  ")
        for uri in foreseen["changedByCommand"]:
            name = self._screen.file_name(uri)
            self._screen.print_line(f"stays     {name}: a command changed it, which is not undone", "yellow")
        typed = await self._terminal.ask("Undo these changes too? [y]es, [n]o, [d]o nothing: ", "ynd")
        return typed == "y" if typed in ("y", "n") else None

    async def _undo(self, turn: str) -> bool:
        """Returns whether there was something to undo."""
        answer = await self._chat.command("tark.turn.undo", {"turnId": turn})
        self._show(answer, "restored ")
        if answer["restored"]:
            self._undone[self._chat.session.id] = turn
        return bool(answer["restored"] or answer["kept"])

    def _changed(self, turn: Answer) -> list[str]:
        edited = [edit["uri"] for edit in turn.get("edits") or () if edit["state"] in WRITTEN]
        changed = [self._screen.file_name(uri) for uri in (*edited, *(turn.get("changedByCommand") or ()))]
        return changed[:MOST_NAMED] + ["..."] * (len(changed) > MOST_NAMED)

    async def _pick(self, question: str, most: int) -> int | None:
        """The index of the typed number; None if nothing was typed. Raises RequestError if it is not in the list."""
        typed = await self._terminal.ask(question)
        if not typed:
            return None
        if not (typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= most):
            raise RequestError(f"{one_line(typed)} is not one of these numbers")
        return int(typed) - 1

    def _show(self, answer: Answer, verb: str) -> None:
        for uri in answer["restored"]:
            self._screen.print_line(f"{verb} {self._screen.file_name(uri)}", "green")
        for file in answer["kept"]:
            name, reason = self._screen.file_name(file["uri"]), visible(file["reason"])
            self._screen.print_line(f"kept      {name}: {reason}", "yellow")
        if answer["restored"] and "note" in answer:
            self._screen.print_line(visible(answer["note"]), "dim")


def _can_be_undone(turn: Answer) -> bool:
    written = any(edit["state"] in WRITTEN for edit in turn.get("edits") or ())
    return turn.get("undone") != "all" and (written or bool(turn.get("changedByCommand")))


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
