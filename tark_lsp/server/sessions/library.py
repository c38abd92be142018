"""Actions on whole sessions, live or stored: list, rename, delete, fork, import."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server.sessions.events import SessionChanged, SessionDeleted
from tark_lsp.server.sessions.sessions import Sessions, held
from tark_lsp.server.sessions.title_text import first_words, title_of_fork, turn_title
from tark_lsp.sessions.rows import SessionHeld, SessionRow


class SessionLibrary:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._rows = sessions.rows
        self._store = sessions.store

    def list_rows(self, *, everywhere: bool = False) -> list[SessionRow]:
        """The sessions, the newest first. Sessions without turns and title are left out."""
        used = [self._rows.as_used(row) for row in self._store.list_sessions() if row.turns or row.title]
        return [row for row in used if everywhere or self._rows.is_here(row)]

    def end_of(self, turn_id: str) -> tuple[str, Mapping[str, Any]]:
        """The title and the end of a turn of another server. Raises RequestError if the turn is unknown, or still
        runs."""
        turn = self._rows.find_turn(turn_id)
        if turn.end is None:
            holder = self._sessions.look(self._rows.find_row(turn.session_id))
            if holder is not None:
                raise RequestError(f"turnId: the turn runs in another editor (process {holder.pid})")
            turn = self._rows.find_turn(turn_id)
        assert turn.end is not None, "look() ended the turns of a session that nobody has"
        return turn_title(turn.prompt, turn.kind), turn.end

    def rename(self, session_id: str, title: str) -> None:
        """Raises RequestError if another process has the session."""
        session = self._sessions.live.get_session(session_id)
        if session is not None:
            session.title = title
            self._sessions.save(session)
        else:
            self._change(session_id, title=title)

    def delete(self, session_id: str) -> SessionRow:
        """Returns the deleted row. Raises RequestError if a turn of the session runs, or another process has it."""
        row = self._rows.find_row(session_id)
        if self._sessions.live.is_busy(session_id):
            raise RequestError(
                "sessionId: a turn of this session is running", hint="cancel it first, or wait for its end"
            )
        try:
            self._store.delete_session(session_id)
        except SessionHeld as error:
            raise held(error.holder) from error
        self._sessions.live.remove(session_id)
        self._sessions.events.emit(SessionDeleted(session_id))
        return row

    def fork(self, session_id: str, title: str, number: int | None) -> SessionRow:
        """A new session of this workspace, with the messages up to `number`, or with all.

        Its mode and level are at least as strict as those of the original and of new sessions.
        """
        row, new_sessions = self._rows.find_row(session_id), self._sessions.new_sessions
        new_id = new_sessions.make_session().id
        forked = self._store.fork_session(session_id, new_id, title or title_of_fork(row.title), number)
        now = new_sessions.tightened(forked)
        folders = forked.folders if self._rows.is_here(forked) else new_sessions.folders
        self._change(new_id, mode=now.mode, approval=now.approval, folders=folders)
        self._store.release_leases(new_id)
        return self._rows.find_row(new_id)

    def import_session(self, text: str, title: str) -> SessionRow:
        """Creates a session of this workspace from an exported one. Raises RequestError if `text` is not one.

        Mode, level and model are those of new sessions, because a file must not be able to allow more.
        """
        from tark_lsp.sessions.export import from_json

        exported = from_json(text)
        session = self._sessions.new_sessions.make_session()
        session.title = title or first_words(exported.title)
        row = replace(self._sessions.new_sessions.row(session), created=exported.created)
        self._store.import_session(row, exported)
        self._store.release_leases(row.id)
        return row

    def _change(self, session_id: str, **columns: Any) -> None:
        try:
            self._store.change_session(session_id, **columns)
        except SessionHeld as error:
            raise held(error.holder) from error
        self._sessions.events.emit(SessionChanged(session_id))
