"""The slash commands about sessions: list, resume, rename, fork, delete, export, compact."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.session_lookup import find_session_id
from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError
from tark_lsp.sessions.usage import cost_text

MAX_LISTED = 30
Row = Mapping[str, Any]


class SessionCommands:
    def __init__(self, conversation: Conversation, keyboard: AnswerInput) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._keyboard = keyboard

    async def new(self, _: str) -> None:
        await self._chat.current.start_new()
        self._screen.print_line("a new session: it starts with your next prompt", "bold")

    async def sessions(self, _: str) -> None:
        """Lists the sessions, and continues the one that the user selects."""
        rows = await self._list()
        if not rows:
            self._screen.print_line("no session in this folder yet", "yellow")
            return
        for number, row in enumerate(rows[:MAX_LISTED], 1):
            self._screen.print_line(f"{number:3}  {_summary(row)}", "none")
        if len(rows) > MAX_LISTED:
            older = len(rows) - MAX_LISTED
            self._screen.print_line(
                f"     {older} older sessions: type /resume and press Tab to complete their titles", "dim"
            )
        typed = await self._keyboard.ask("number of the session to continue (Enter: none): ")
        if typed and typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= min(len(rows), MAX_LISTED):
            await self._chat.current.open_session(rows[int(typed) - 1]["sessionId"])
        elif typed:
            raise RequestError(f"{one_line(typed)} is not one of these numbers")

    async def resume(self, wanted: str) -> None:
        if not wanted:
            await self.sessions("")
        else:
            await self._chat.current.open_session((await self._find(wanted))["sessionId"])

    async def resume_last(self) -> bool:
        """Continues the newest session of this folder. Returns whether there is one."""
        rows = await self._list()
        if rows:
            await self._chat.current.open_session(rows[0]["sessionId"])
        return bool(rows)

    async def rename(self, title: str) -> None:
        argument = {"sessionId": self._chat.session.require_id(), "title": title}
        session = await self._chat.command("tark.session.rename", argument)
        self._chat.session.title = session["title"]
        self._screen.print_line(f"the title of this session is now {one_line(session['title'])}")

    async def fork(self, title: str) -> None:
        argument = {"sessionId": self._chat.session.require_id(), **({"title": title} if title else {})}
        forked = await self._chat.command("tark.session.fork", argument)
        await self._chat.current.open_session(forked["sessionId"])
        self._screen.print_line("this is a copy; the original session is unchanged", "bold")

    async def delete(self, wanted: str) -> None:
        row = await self._find(wanted or self._chat.session.require_id())
        self._screen.print_line(_summary(row))
        if (await self._keyboard.ask("Delete it and all its messages? Type yes: ") or "").lower() != "yes":
            self._screen.print_line("not deleted", "dim")
            return
        await self._chat.command("tark.session.delete", {"sessionId": row["sessionId"]})
        self._screen.print_line("deleted")
        if row["sessionId"] == self._chat.session.id:
            await self.new("")

    async def export(self, argument: str) -> None:
        """`argument` is `[markdown|json] [PATH]`."""
        form, _, path = argument.partition(" ")
        if form not in ("", "markdown", "json"):
            if argument.isalnum():  # `pdf` is more likely a format than a path
                raise RequestError(
                    f"there is no format {one_line(argument)!r}", hint="use markdown, json, or a path such as chat.md"
                )
            form, path = "", argument
        session = self._chat.session.require_id()
        wanted = {"sessionId": session, "format": form or "markdown", "path": path.strip()}
        answer = await self._chat.command("tark.session.export", {key: value for key, value in wanted.items() if value})
        self._screen.print_line(f"written to {one_line(answer['path'], 500)}")

    async def compact(self, _: str) -> None:
        session = self._chat.session.require_id()
        self._screen.print_line("asking the model for a summary of the session ...", "dim")
        answer = await self._chat.command("tark.session.compact", {"sessionId": session})
        self._screen.print_line(f"{answer['tokensBefore']:,} tokens became {answer['tokensAfter']:,}")

    async def session_ids(self) -> Sequence[tuple[str, str]]:
        return [(row["sessionId"], row.get("title") or "") for row in await self._list()]

    async def _find(self, wanted: str) -> Row:
        """A session of this folder. Raises RequestError if none or several match."""
        rows = {row["sessionId"]: row for row in await self._list()}
        return rows[find_session_id({name: row.get("title") or "" for name, row in rows.items()}, wanted)]

    async def _list(self) -> Sequence[Row]:
        rows: Sequence[Row] = (await self._chat.command("tark.session.list"))["sessions"]
        return rows


def _summary(row: Row) -> str:
    when = str(row.get("updated") or "")[:16].replace("T", " ")
    held = f" · open in process {row['heldBy']['pid']}" if row.get("heldBy") else ""
    turns = f"{row.get('turns', 0)} turn{'s' * (row.get('turns') != 1)}"
    cost = f" · {price}" if (price := cost_text(row.get("costUsd"))) else ""
    return f"{when}  {one_line(row.get('title') or row['sessionId'], 60)} · {turns}{cost}{held}"
