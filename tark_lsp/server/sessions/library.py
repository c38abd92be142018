"""What is done to sessions as a whole, live or not: listed, named, deleted, forked, taken in from a file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.sessions.sessions import Sessions, held
from tark_lsp.server.sessions.titles import first_words, title_of_fork, turn_title
from tark_lsp.sessions.rows import SessionHeld, SessionRow


class Library:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._store = sessions.store

    def rows(self, *, everywhere: bool = False) -> list[SessionRow]:
        """The newest first; those in which nothing was said or named are left out."""
        said = [self._sessions.as_used(row) for row in self._store.sessions() if row.turns or row.title]
        return [row for row in said if everywhere or self._sessions.is_here(row)]

    def end_of(self, turn_id: str) -> tuple[str, Mapping[str, Any]]:
        """How a turn of another server ended, and what it is called. Raises RequestError where there is none."""
        turn = self._sessions.turn(turn_id)
        if turn.end is None:
            holder = self._sessions.look(self._sessions.row(turn.session_id))
            if holder is not None:
                raise RequestError(f"turnId: it runs in another editor (process {holder.pid})")
            turn = self._sessions.turn(turn_id)
        assert turn.end is not None, "a turn that runs nowhere was ended when its session was taken up"
        return turn_title(turn.prompt, turn.kind), turn.end

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
        """A new one of this workspace, with what was said up to message `number`, or to the end.

        Neither looser than the other one nor than a new one would be.
        """
        row, beginnings = self._sessions.row(session_id), self._sessions.beginnings
        new_id = beginnings.fresh().id
        forked = self._store.fork(session_id, new_id, title or title_of_fork(row.title), number)
        now = beginnings.tightened(forked)
        folders = forked.folders if self._sessions.is_here(forked) else tuple(self._sessions.folders())
        self._change(new_id, mode=now.mode, approval=now.approval, folders=folders)
        self._store.release(new_id)
        return self._sessions.row(new_id)

    def take_in(self, text: str, title: str) -> SessionRow:
        """An exported session as a new one of this workspace. Raises RequestError for what is none.

        Mode, level and model are those of new sessions: a file is not to loosen anything.
        """
        from tark_lsp.sessions.export import from_json

        exported = from_json(text)
        session = self._sessions.beginnings.fresh()
        session.title = title or first_words(exported.title)
        row = replace(self._sessions.beginnings.row(session), created=exported.created)
        self._store.take_in(row, exported)
        self._store.release(row.id)
        return row

    def _change(self, session_id: str, **columns: Any) -> None:
        try:
            self._store.change(session_id, **columns)
        except SessionHeld as error:
            raise held(error.holder) from error
        self._sessions.changed(session_id)
