"""What a session begins with, as settings and the person have it now, and the row it gets."""

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
"""The strictest first, as they are declared."""


class NewSessions:
    def __init__(self, settings: Callable[[], Settings], folders: Callable[[], Sequence[Path]]) -> None:
        """`folders()`: those of the workspace."""
        self._settings = settings
        self._folders = folders
        self.defaults: dict[str, Any] = {}
        """What the person set for new sessions, until exit."""

    def fresh(self) -> Session:
        """As a new one would be, but nobody's."""
        settings, defaults = self._settings(), self.defaults
        return Session(
            f"session-{secrets.token_hex(6)}",
            defaults.get("model", settings.model),
            defaults.get("mode", settings.mode),
            defaults.get("approval", settings.approval),
            defaults.get("thinking", settings.thinking),
        )

    def tightened(self, row: SessionRow) -> SessionRow:
        """As it is gone on with: what was set in it once never loosens what holds now."""
        now = self.fresh()
        mode, approval = min(row.mode, now.mode, key=MODES.index), min(row.approval, now.approval, key=LEVELS.index)
        return replace(row, mode=mode, approval=approval)

    def row(self, session: Session) -> SessionRow:
        """Of one that is to be stored now."""
        now = time.time()
        return SessionRow(session.id, created=now, updated=now, folders=tuple(self._folders()), **columns(session))


def settings_json(session: Session | SessionRow) -> dict[str, Any]:
    return {
        "model": session.model,
        "mode": session.mode,
        "approval": session.approval,
        "thinking": session.thinking,
    }


def columns(session: Session | SessionRow) -> dict[str, Any]:
    """What may change of it, as the store's columns are called."""
    return {"title": session.title, **settings_json(session)}
