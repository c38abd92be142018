"""The commands `tark.session.*`, except for those about the context."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tark_lsp.errors import RequestError
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.sessions.files import exported, new_export, read_import, write_new
from tark_lsp.server.sessions.library import SessionLibrary
from tark_lsp.server.sessions.session_json import message_number, messages_json, session_json, unknown_message
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.shown_turn import RunningTurn, ShownTurn, iso
from tark_lsp.server.sessions.title_text import checked_title
from tark_lsp.sessions.page import Page, is_shown_message, read_page
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.usage import cost_text
from tark_lsp.visible import table_cell

Json = dict[str, Any]


class RunningTurns(Protocol):
    """The turns of this server."""

    def running_turn(self, turn_id: str) -> RunningTurn | None:
        """The turn; None if this server does not remember it."""
        ...


class SessionCommands:
    def __init__(
        self,
        sessions: Sessions,
        show: TextDisplay,
        turns: RunningTurns,
        is_compacted: Callable[[str], bool],
        undone_turns: Callable[[Iterable[str]], Mapping[str, str]],
    ) -> None:
        """`is_compacted(session_id)`: whether the session is being compacted now. `undone_turns(turn_ids)`: by turn,
        whether "all" or "partly" of its changes are undone."""
        self._sessions = sessions
        self._show = show
        self._turns = turns
        self._is_compacted = is_compacted
        self._undone_turns = undone_turns
        self._library = SessionLibrary(sessions)

    def commands(self) -> Iterable[Command]:
        yield Command("tark.session.list", command_payloads.ListSessions, self.list)
        yield Command("tark.session.new", command_payloads.NewSession, self.new)
        yield Command("tark.session.open", command_payloads.OpenSession, self.open)
        yield Command("tark.session.rename", command_payloads.RenameSession, self.rename)
        yield Command("tark.session.delete", command_payloads.SessionId, self.delete)
        yield Command("tark.session.fork", command_payloads.ForkSession, self.fork)
        yield Command("tark.session.export", command_payloads.ExportSession, self.export)

    async def list(self, request: command_payloads.ListSessions) -> Json:
        rows = self._library.list_rows(everywhere=request.all)
        await self._show.command_result("sessions", sessions_table(rows))
        holders = self._sessions.store.lease_holders()
        return {"sessions": [self._sessions.rows.json(row, holders.get(row.id)) for row in rows]}

    async def new(self, request: command_payloads.NewSession) -> Json:
        title = checked_title(request.title) if request.title is not None else ""
        if request.import_ is None:
            session = self._sessions.new(title)
            self._sessions.keep(session)
            return {"sessionId": session.id}
        text = read_import(self._path(request.import_, "import"))
        return {"sessionId": self._library.import_session(text, title).id}

    async def open(self, request: command_payloads.OpenSession) -> Json:
        """Shows a session without holding it, so another process can still continue it."""
        rows, store = self._sessions.rows, self._sessions.store
        row = rows.find_row(request.session_id)
        before = None if request.before is None else self._number(row.id, request.before)
        holder = self._sessions.look(row) if rows.is_here(row) else store.lease_holder(row.id)
        row, page = rows.find_row(row.id), read_page(store, row.id, request.last, before)
        undone = self._undone_turns(turn.origin for turn in page.turns if changed_files(turn))
        shown = {turn.id: self._shown(turn, page, undone.get(turn.origin)) for turn in page.turns}
        return {
            **rows.json(row, holder),
            "messages": messages_json(row.id, page, shown),
            "turns": [turn.json() for turn in shown.values()],
            "earlier": page.earlier,
        }

    async def rename(self, request: command_payloads.RenameSession) -> Json:
        rows = self._sessions.rows
        rows.find_row(request.session_id)
        self._library.rename(request.session_id, checked_title(request.title))
        return rows.json(rows.find_row(request.session_id))

    async def delete(self, request: command_payloads.SessionId) -> Json:
        if self._is_compacted(request.session_id):
            raise RequestError("sessionId: the session is being compacted", hint="wait for its end")
        return session_json(self._library.delete(request.session_id))

    async def fork(self, request: command_payloads.ForkSession) -> Json:
        rows, number = self._sessions.rows, None
        if request.message_id is not None:
            number = self._number(rows.find_row(request.session_id).id, request.message_id)
        title = checked_title(request.title) if request.title is not None else ""
        return rows.json(self._library.fork(request.session_id, title, number))

    async def export(self, request: command_payloads.ExportSession) -> Json:
        """Raises RequestError if the file already exists, or cannot be written."""
        row = self._sessions.rows.find_row(request.session_id)
        path = new_export(row.id, request.format) if request.path is None else self._path(request.path, "path")
        return {"path": str(write_new(path, exported(self._sessions.store, row, request.format)))}

    def _shown(self, turn: TurnRow, page: Page, undone: str | None) -> ShownTurn:
        running, begun = self._turns.running_turn(turn.id), page.earlier_calls.get(turn.id)
        shown, goes_on = page.shown.get(turn.id, ()), turn.id == page.continued_turn
        return ShownTurn(turn, shown, begun, goes_on=goes_on, running=running, undone=undone)

    def _number(self, session_id: str, message_id: str) -> int:
        """The number of a message. Raises RequestError if `open` does not show this message."""
        number = message_number(session_id, message_id)
        if not is_shown_message(self._sessions.store, session_id, number):
            raise unknown_message(session_id, message_id)
        return number

    def _path(self, path: str, field: str) -> Path:
        """The absolute path. A relative path is below the first folder of the workspace. Raises RequestError."""
        folder = self._sessions.rows.first_folder()
        whole = Path(path) if folder is None else folder / path
        if "\0" in path or not whole.is_absolute():
            raise RequestError(f"{field}: {path!r} is not an absolute path")
        return whole


def changed_files(turn: TurnRow) -> bool:
    """Whether the turn may have changed a file. The end of an interrupted turn does not say it."""
    end = turn.end or {}
    return bool(end.get("edits") or end.get("error"))


def sessions_table(rows: "list[SessionRow]") -> str:
    """The sessions as a Markdown table for the user."""
    if not rows:
        return "# Sessions\n\nNone.\n"
    head = "| title | last used | turns | cost | id |\n|---|---|---|---|---|\n"
    return f"# Sessions\n\n{head}" + "".join(f"| {' | '.join(_cells(row))} |\n" for row in rows)


def _cells(row: SessionRow) -> tuple[str, ...]:
    title, used = table_cell(row.title), iso(row.updated)[:16].replace("T", " ")
    return title, f"{used} UTC", str(row.turns), cost_text(row.cost_usd), row.id
