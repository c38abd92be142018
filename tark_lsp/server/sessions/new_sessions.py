"""What a new session begins with: the current settings, and what the user set for new sessions."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.settings import Settings

MODES, LEVELS = tuple(Mode), tuple(ApprovalLevel)
"""Both are declared with the strictest first."""


class NewSessions:
    def __init__(self, settings: Callable[[], Settings], folders: Callable[[], Sequence[Path]]) -> None:
        """`settings()`: the current ones. `folders()`: those of the workspace."""
        self._settings = settings
        self._folders = folders
        self.defaults: dict[str, Any] = {}
        """What the user set for new sessions, until this server ends."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Those of the workspace."""
        return tuple(self._folders())

    def make_session(self) -> Session:
        """A session that is not live yet."""
        settings, defaults = self._settings(), self.defaults
        return Session(
            f"session-{secrets.token_hex(6)}",
            defaults.get("model", settings.model),
            defaults.get("mode", settings.mode),
            defaults.get("approval", settings.approval),
            defaults.get("thinking", settings.thinking),
        )

    def tightened(self, row: SessionRow) -> SessionRow:
        """With the mode and level it continues with: what was set in it before never loosens what holds now."""
        now = self.make_session()
        mode, approval = min(row.mode, now.mode, key=MODES.index), min(row.approval, now.approval, key=LEVELS.index)
        return replace(row, mode=mode, approval=approval)

    def settings_state(self, _: str | None) -> dict[str, Any]:
        """For `tark.state`: the effective settings, with what the user set for new sessions."""
        return {**self._settings().as_protocol_json(), **self.defaults}

    def row(self, session: Session) -> SessionRow:
        """The row of a session that is stored for the first time now."""
        now = time.time()
        return SessionRow(session.id, created=now, updated=now, folders=self.folders, **columns(session))


def settings_json(session: Session | SessionRow) -> dict[str, Any]:
    return {
        "model": session.model,
        "mode": session.mode,
        "approval": session.approval,
        "thinking": session.thinking,
    }


def columns(session: Session | SessionRow) -> dict[str, Any]:
    """What can change of it, by the names of the store's columns."""
    return {"title": session.title, **settings_json(session)}
