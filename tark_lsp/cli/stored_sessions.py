"""The actions of `tark-lsp sessions`: list, show, rename, delete, export and import stored sessions."""

import json
import os
from argparse import Namespace
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.runtime import at_terminal
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session_lookup import find_session_id
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError
from tark_lsp.folders import sessions_path, user_config_path
from tark_lsp.server.sessions.files import exported, new_export, read_import, write_new
from tark_lsp.server.sessions.library import SessionLibrary
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.sessions.title_text import checked_title
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.usage import cost_text
from tark_lsp.settings import Settings
from tark_lsp.settings_loading import load_settings


class StoredSessions:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._broken = False
        self._store = SessionStore(sessions_path, self._failed)

        def settings() -> Settings:
            return load_settings(user_file=user_config_path(), environ=os.environ)[0]

        self._sessions = Sessions(self._store, settings, lambda: [folder], screen.print_error)
        self._library = SessionLibrary(self._sessions)

    async def run(self, options: Namespace) -> int:
        actions: dict[str, Callable[[Namespace], Awaitable[int]]] = {
            "list": self._list,
            "show": self._show,
            "rename": self._rename,
            "delete": self._delete,
            "export": self._export,
            "import": self._import,
        }
        try:
            code = await actions[options.what or "list"](options)
        finally:
            await self._sessions.stop()
        return NOT_DONE if self._broken else code

    async def _list(self, options: Namespace) -> int:
        rows = [row for row in self._rows() if (row.turns or row.title) and (options.all or self._is_here(row))]
        holders = self._store.lease_holders() if rows else {}
        if options.json:
            from tark_lsp.server.sessions.session_json import session_json  # it imports the whole server

            print(json.dumps([session_json(row, holder=holders.get(row.id)) for row in rows], indent=2))
            return DONE
        for row in rows:
            when = datetime.fromtimestamp(row.updated).strftime("%Y-%m-%d %H:%M")
            turns = f"{row.turns} turn{'s' * (row.turns != 1)}"
            cost = f", {cost_text(row.cost_usd)}" if row.cost_usd is not None else ""
            holder = holders.get(row.id)
            busy = "" if holder is None else f"  (open in process {holder.pid})"
            self._screen.print_line(f"{when}  {row.id}  {one_line(row.title, 80)}  ({turns}{cost}){busy}")
            if options.all:
                self._screen.print_line(f"  {one_line(', '.join(map(str, row.folders)) or 'no folder')}", "dim")
        if not rows:
            self._screen.print_line("no sessions" if options.all else "no sessions in this folder", "yellow")
        return DONE

    async def _show(self, options: Namespace) -> int:
        print(visible(exported(self._store, self._find(" ".join(options.session)), "markdown")), end="")
        return DONE

    async def _rename(self, options: Namespace) -> int:
        row, title = self._find(options.session), checked_title(options.title)
        self._library.rename(row.id, title)
        self._screen.print_line(f"the title of {row.id} is now {visible(title)}", "green")
        return DONE

    async def _delete(self, options: Namespace) -> int:
        rows = list(dict.fromkeys(self._find(session) for session in options.session))
        for row in rows:
            self._screen.print_line(f"{row.id}  {one_line(row.title, 80)}")
        if not options.yes and not await self._agreed(len(rows)):
            return NOT_DONE
        for row in rows:
            self._library.delete(row.id)
            self._screen.print_line(f"deleted {row.id}", "green")
        return DONE

    async def _agreed(self, count: int) -> bool:
        if not at_terminal():
            raise RequestError("this is not a terminal, so nobody can be asked", hint="--yes deletes without asking")
        keyboard = Keyboard()
        question = f"Delete {'it' if count == 1 else f'these {count}'}? [y]es, [n]o: "
        while (typed := await keyboard.ask(question)) is not None:
            if typed.lower() in ("y", "yes", "n", "no"):
                return typed.lower().startswith("y")
        return False

    async def _export(self, options: Namespace) -> int:
        row = self._find(options.session)
        path = new_export(row.id, options.format) if options.output is None else self._folder / options.output
        print(write_new(path, exported(self._store, row, options.format)))
        return DONE

    async def _import(self, options: Namespace) -> int:
        text = read_import(self._folder / options.file)
        row = self._library.import_session(text, checked_title(options.title) if options.title else "")
        print(row.id)
        return DONE

    def _rows(self) -> list[SessionRow]:
        """The stored sessions; empty if there is no database yet. Does not create one."""
        return self._store.list_sessions() if sessions_path().exists() else []

    def _is_here(self, row: SessionRow) -> bool:
        return any(self._folder.is_relative_to(folder) or folder.is_relative_to(self._folder) for folder in row.folders)

    def _find(self, wanted: str) -> SessionRow:
        """Raises RequestError."""
        rows = {row.id: row for row in self._rows()}
        near = {row.id for row in rows.values() if self._is_here(row)}
        return rows[find_session_id({row.id: row.title for row in rows.values()}, wanted, near)]

    def _failed(self, problem: str) -> None:
        self._broken = True
        self._screen.print_error(problem, "see docs/sessions.md")
