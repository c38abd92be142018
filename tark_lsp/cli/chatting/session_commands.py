"""What the slash commands about sessions do: list, resume, rename, fork, delete, export, compact, context, usage."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import Asks
from tark_lsp.cli.visible import one_line
from tark_lsp.cli.which_session import chosen
from tark_lsp.errors import RequestError
from tark_lsp.sessions.usage import cost_text

MOST_LISTED = 30
Row = Mapping[str, Any]


class SessionCommands:
    def __init__(self, conversation: Conversation, keyboard: Asks) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._keyboard = keyboard

    async def new(self, _: str) -> None:
        await self._chat.new()
        self._screen.line("a new session: your next prompt begins it", "bold")

    async def sessions(self, _: str) -> None:
        """List them, and go on with the one that is picked."""
        rows = await self._list()
        if not rows:
            self._screen.line("no session in this folder yet", "yellow")
            return
        for number, row in enumerate(rows[:MOST_LISTED], 1):
            self._screen.line(f"{number:3}  {_told(row)}", "none")
        if len(rows) > MOST_LISTED:
            self._screen.line(
                f"     {len(rows) - MOST_LISTED} older ones: /resume and Tab completes their titles", "dim"
            )
        typed = await self._keyboard.ask("number to go on with (Enter: none): ")
        if typed and typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= min(len(rows), MOST_LISTED):
            await self._chat.open(rows[int(typed) - 1]["sessionId"])
        elif typed:
            raise RequestError(f"{one_line(typed)} is none of these numbers")

    async def resume(self, wanted: str) -> None:
        if not wanted:
            await self.sessions("")
        else:
            await self._chat.open((await self._chosen(wanted))["sessionId"])

    async def resume_last(self) -> bool:
        """The newest of this folder; whether there is one."""
        rows = await self._list()
        if rows:
            await self._chat.open(rows[0]["sessionId"])
        return bool(rows)

    async def rename(self, title: str) -> None:
        session = await self._chat.command("tark.session.rename", {"sessionId": self._id(), "title": title})
        self._chat.session.title = session["title"]
        self._screen.line(f"this session is now called {one_line(session['title'])}")

    async def fork(self, title: str) -> None:
        argument = {"sessionId": self._id(), **({"title": title} if title else {})}
        forked = await self._chat.command("tark.session.fork", argument)
        await self._chat.open(forked["sessionId"])
        self._screen.line("a copy of the session; the one before stays as it is", "bold")

    async def delete(self, wanted: str) -> None:
        row = await self._chosen(wanted or self._id())
        self._screen.line(_told(row))
        if (await self._keyboard.ask("Delete it, with all that was said? Type yes: ") or "").lower() != "yes":
            self._screen.line("not deleted", "dim")
            return
        await self._chat.command("tark.session.delete", {"sessionId": row["sessionId"]})
        self._screen.line("deleted")
        if row["sessionId"] == self._chat.session.id:
            await self.new("")

    async def export(self, argument: str) -> None:
        """`[markdown|json] [PATH]`."""
        form, _, path = argument.partition(" ")
        if form not in ("", "markdown", "json"):
            if argument.isalnum():  # no path that anybody means: a file called `pdf`
                raise RequestError(
                    f"there is no format {one_line(argument)!r}", hint="markdown, json, or a path such as said.md"
                )
            form, path = "", argument
        wanted = {"sessionId": self._id(), "format": form or "markdown", "path": path.strip()}
        answer = await self._chat.command("tark.session.export", {key: value for key, value in wanted.items() if value})
        self._screen.line(f"written: {one_line(answer['path'], 500)}")

    async def compact(self, _: str) -> None:
        self._screen.line("asking the model for a summary of what was said ...", "dim")
        answer = await self._chat.command("tark.session.compact", {"sessionId": self._id()})
        self._screen.line(f"{answer['tokensBefore']:,} tokens became {answer['tokensAfter']:,}")

    async def context(self, _: str) -> None:
        answer = await self._chat.command("tark.session.context", {"sessionId": self._id()})
        parts: Sequence[Row] = answer["parts"]
        width = max((len(one_line(part["name"], 50)) for part in parts), default=0)
        for part in parts:
            self._screen.line(f"{part['tokens']:>9,}  {one_line(part['name'], 50):{width}}  {part['kind']}")
        window = answer.get("contextWindow")
        share = f" of {window:,} ({100 * answer['tokens'] // window} %)" if window else ""
        self._screen.line(f"{answer['tokens']:>9,}  tokens in the next prompt{share}", "bold")

    async def usage(self, _: str) -> None:
        answer = await self._chat.command("tark.usage", {"sessionId": self._id()})
        for line in usage_lines(answer):
            self._screen.line(line)

    async def ids(self) -> Sequence[tuple[str, str]]:
        return [(row["sessionId"], row.get("title") or "") for row in await self._list()]

    async def _chosen(self, wanted: str) -> Row:
        """Of this folder. Raises RequestError for none or several."""
        rows = {row["sessionId"]: row for row in await self._list()}
        return rows[chosen({each: row.get("title") or "" for each, row in rows.items()}, wanted)]

    async def _list(self) -> Sequence[Row]:
        rows: Sequence[Row] = (await self._chat.command("tark.session.list"))["sessions"]
        return rows

    def _id(self) -> str:
        if self._chat.session.id is None:
            raise RequestError("nothing was said in this session yet", hint="/resume goes on with an earlier one")
        return self._chat.session.id


def usage_lines(answer: Mapping[str, Any]) -> list[str]:
    """The answer of `tark.usage` as a table: each model, and all together where there are several."""
    rows: Sequence[Row] = answer.get("models") or ()
    named = [(one_line(str(row.get("model")), 60), row) for row in rows]
    if len(rows) > 1:
        named.append(("all", answer["total"]))
    width = max((len(name) for name, _ in named), default=0)
    return [f"{name:{width}}  {_usage(row)}" for name, row in named] or ["nothing was used yet"]


def _usage(row: Row) -> str:
    cost = cost_text(row.get("costUsd"), row.get("unpricedRequests") or 0)
    tokens = f"{row.get('inputTokens') or 0:,} in ({row.get('cachedTokens') or 0:,} cached)"
    return f"{tokens}, {row.get('outputTokens') or 0:,} out, cost {cost or 'unknown'}"


def _told(row: Row) -> str:
    when = str(row.get("updated") or "")[:16].replace("T", " ")
    held = f" · open in process {row['heldBy']['pid']}" if row.get("heldBy") else ""
    turns = f"{row.get('turns', 0)} turn{'s' * (row.get('turns') != 1)}"
    cost = f" · {price}" if (price := cost_text(row.get("costUsd"))) else ""
    return f"{when}  {one_line(row.get('title') or row['sessionId'], 60)} · {turns}{cost}{held}"
