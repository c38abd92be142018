"""What is done to sessions as a whole, live or not: listed, named, deleted, forked, taken in from a file."""

from dataclasses import replace
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.sessions.sessions import Sessions, held, new_session_id
from tark_lsp.server.sessions.titles import first_words, title_of_fork
from tark_lsp.sessions.rows import SessionHeld, SessionRow


class Library:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._store = sessions.store

    def rows(self, *, everywhere: bool = False) -> list[SessionRow]:
        """The newest first; those in which nothing was said or named are left out."""
        said = [row for row in self._store.sessions() if row.turns or row.title]
        return [row for row in said if everywhere or self._sessions.is_here(row)]

    def rename(self, session_id: str, title: str) -> None:
        """Raises RequestError where another process has it."""
        session = self._sessions.find(session_id)
        if session is not None:
            session.title = title
            self._sessions.save(session)
        else:
            self._change(session_id, title=title)

    def delete(self, session_id: str) -> SessionRow:
        """Its row, as it was. Raises RequestError where a turn of it runs, or another process has it."""
        row = self._sessions.row(session_id)
        if self._sessions.is_busy(session_id):
            raise RequestError("sessionId: a turn of it is running", hint="cancel it first, or wait for its end")
        try:
            self._store.delete(session_id)
        except SessionHeld as error:
            raise held(error.holder) from error
        self._sessions.forget(session_id)
        return row

    def fork(self, session_id: str, title: str, number: int | None) -> SessionRow:
        """A new one of this workspace, with what was said up to message `number`, or to the end."""
        row = self._sessions.row(session_id)
        new_id = new_session_id()
        forked = self._store.fork(session_id, new_id, title or title_of_fork(row.title), number)
        if not self._sessions.is_here(forked):
            self._change(new_id, folders=tuple(self._sessions.folders()))
        self._store.release(new_id)
        return self._sessions.row(new_id)

    def take_in(self, text: str, title: str) -> SessionRow:
        """An exported session as a new one of this workspace. Raises RequestError for what is none.

        Mode, level and model are those of new sessions: a file is not to loosen anything.
        """
        from tark_lsp.sessions.export import from_json

        exported = from_json(text)
        session = self._sessions.fresh()
        session.title = title or first_words(exported.title)
        row = replace(self._sessions.new_row(session), created=exported.created)
        self._store.take_in(row, exported)
        self._store.release(row.id)
        return row

    def _change(self, session_id: str, **columns: Any) -> None:
        try:
            self._store.change(session_id, **columns)
        except SessionHeld as error:
            raise held(error.holder) from error
