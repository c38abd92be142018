"""The commands `tark.session.*`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.asking.visible import visible
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.sessions.files import exported, new_export, read_import, write_new
from tark_lsp.server.sessions.library import Library
from tark_lsp.server.sessions.recording import Recorder
from tark_lsp.server.sessions.session_json import message_number, messages_json, no_message, session_json
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.shown_turn import ShownTurn, iso
from tark_lsp.server.sessions.title_request import Titles
from tark_lsp.server.sessions.titles import named
from tark_lsp.server.turns.answers import Answers
from tark_lsp.server.turns.budgeting import Budgeting
from tark_lsp.server.turns.turns import Turns
from tark_lsp.sessions.page import Page, is_told, read_page
from tark_lsp.sessions.rows import Holder, SessionRow, TurnRow
from tark_lsp.sessions.usage import cost_text

Json = dict[str, Any]


class SessionCommands:
    def __init__(
        self,
        connection: Connection,
        sessions: Sessions,
        turns: Turns,
        recorder: Recorder,
        titles: Titles,
        budgeting: Budgeting,
        answers: Answers,
    ) -> None:
        """It hears of all that changes of a session from now on."""
        self._connection = connection
        self._sessions = sessions
        sessions.changed = self._changed
        self._library = Library(sessions)
        self._turns = turns
        self._recorder = recorder
        self._titles = titles
        self._budgeting = budgeting
        self._answers = answers

    def table(self) -> Mapping[str, tuple[type[protocol.Payload], Callable[[Any, Any], Any]]]:
        return {
            "tark.session.list": (protocol.ListSessions, self.list),
            "tark.session.new": (protocol.NewSession, self.new),
            "tark.session.open": (protocol.OpenSession, self.open),
            "tark.session.context": (protocol.SessionId, self.context),
            "tark.session.rename": (protocol.RenameSession, self.rename),
            "tark.session.delete": (protocol.SessionId, self.delete),
            "tark.session.fork": (protocol.ForkSession, self.fork),
            "tark.session.export": (protocol.ExportSession, self.export),
            "tark.session.compact": (protocol.SessionId, self.compact),
        }

    async def list(self, request: protocol.ListSessions, _: Any) -> Json:
        rows = self._library.rows(everywhere=request.all)
        await self._answers.result("sessions", sessions_table(rows))
        holders = self._sessions.store.holders()
        return {"sessions": [self._json(row, holders.get(row.id)) for row in rows]}

    async def new(self, request: protocol.NewSession, _: Any) -> Json:
        title = named(request.title) if request.title is not None else ""
        if request.import_ is None:
            session = self._sessions.new(title)
            self._sessions.keep(session)
            return {"sessionId": session.id}
        text = read_import(self._path(request.import_, "import"))
        return {"sessionId": self._library.take_in(text, title).id}

    async def open(self, request: protocol.OpenSession, _: Any) -> Json:
        """Not held by that: who only looks at it keeps nobody from going on with it."""
        row = self._sessions.row(request.session_id)
        store, is_here = self._sessions.store, self._sessions.is_here(row)
        before = None if request.before is None else self._number(row.id, request.before)
        holder = self._sessions.look(row) if is_here else store.holder(row.id)
        row, page = self._sessions.row(row.id), read_page(store, row.id, request.last, before)
        shown = {turn.id: self._shown(turn, page) for turn in page.turns}
        return {
            **self._json(row, holder),
            "messages": messages_json(row.id, page, shown),
            "turns": [turn.json() for turn in shown.values()],
            "earlier": page.earlier,
        }

    def _shown(self, turn: TurnRow, page: Page) -> ShownTurn:
        record = self._turns.find(turn.id) if self._turns.remembers(turn.id) else None
        begun = page.begun.get(turn.id)
        return ShownTurn(turn, page.shown.get(turn.id, ()), begun, goes_on=turn.id == page.goes_on, record=record)

    def _number(self, session_id: str, message_id: str) -> int:
        """Raises RequestError for what is no message that `open` shows."""
        number = message_number(session_id, message_id)
        if not is_told(self._sessions.store, session_id, number):
            raise no_message(session_id, message_id)
        return number

    async def context(self, request: protocol.SessionId, _: Any) -> Json:
        return await self._budgeting.context(self._sessions.peek(request.session_id))

    async def rename(self, request: protocol.RenameSession, _: Any) -> Json:
        self._sessions.row(request.session_id)
        self._library.rename(request.session_id, named(request.title))
        return self._json(self._sessions.row(request.session_id))

    async def delete(self, request: protocol.SessionId, _: Any) -> Json:
        if self._turns.is_held_back(request.session_id):
            raise RequestError("sessionId: it is being summed up", hint="wait for its end")
        if self._turns.is_held_back(request.session_id):
            raise RequestError("sessionId: it is being compacted", hint="wait for its end")
        self._titles.cancel(request.session_id)
        return session_json(self._library.delete(request.session_id))

    async def fork(self, request: protocol.ForkSession, _: Any) -> Json:
        number = None
        if request.message_id is not None:
            number = self._number(self._sessions.row(request.session_id).id, request.message_id)
        title = named(request.title) if request.title is not None else ""
        return self._json(self._library.fork(request.session_id, title, number))

    async def export(self, request: protocol.ExportSession, _: Any) -> Json:
        """Raises RequestError where the file is there already, or cannot be written."""
        row = self._sessions.row(request.session_id)
        path = new_export(row.id, request.format) if request.path is None else self._path(request.path, "path")
        return {"path": str(write_new(path, exported(self._sessions.store, row, request.format)))}

    async def compact(self, request: protocol.SessionId, _: Any) -> Json:
        """Turns that are started meanwhile wait. Raises RequestError while one runs, and where nothing is gained."""
        session = self._sessions.use(request.session_id)
        if self._sessions.is_busy(session.id):
            raise RequestError("sessionId: a turn of it is running or waits", hint="wait for its end, or cancel it")
        with self._turns.held_back(session.id):
            tokens = await self._budgeting.compact(session, lambda event: self._recorder.hear(session, "", event))
        return {**self._json(self._sessions.row(session.id)), **tokens}

    def _changed(self, session_id: str) -> None:
        """Its title or its settings, or it is new."""
        if self._connection.client.understands("updates"):
            self._connection.notify(protocol.SESSION, {"session": self._json(self._sessions.row(session_id))})

    def _json(self, row: SessionRow, holder: Holder | None = None) -> Json:
        return session_json(row, read_only=not self._sessions.is_here(row), holder=holder)

    def _path(self, path: str, field: str) -> Path:
        """A relative one is below the workspace's first folder."""
        folder = self._sessions.first_folder()
        whole = Path(path) if folder is None else folder / path
        if "\0" in path or not whole.is_absolute():
            raise RequestError(f"{field}: {path!r} is no absolute path")
        return whole


def sessions_table(rows: "list[SessionRow]") -> str:
    """For people: a Markdown table."""
    if not rows:
        return "# Sessions\n\nNone.\n"
    head = "| title | last used | turns | cost | id |\n|---|---|---|---|---|\n"
    return f"# Sessions\n\n{head}" + "".join(f"| {' | '.join(_cells(row))} |\n" for row in rows)


def _cells(row: SessionRow) -> tuple[str, ...]:
    title, used = visible(row.title).replace("|", "¦"), iso(row.updated)[:16].replace("T", " ")
    return title, f"{used} UTC", str(row.turns), cost_text(row.cost_usd), row.id
