"""Creates new sessions with the current settings and the defaults that the user set for new sessions."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.server.sessions.mode_models import change_mode
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.settings import Settings

MODES, LEVELS = tuple(Mode), tuple(ApprovalLevel)
"""The enums declare the strictest value first."""


class NewSessions:
    def __init__(self, settings: Callable[[], Settings], folders: Callable[[], Sequence[Path]]) -> None:
        """`settings()`: the current settings. `folders()`: the folders of the workspace."""
        self._settings = settings
        self._folders = folders
        self.defaults: dict[str, Any] = {}
        """The user's defaults for new sessions, until this server ends."""

    @property
    def settings(self) -> Settings:
        return self._settings()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the workspace."""
        return tuple(self._folders())

    def make_session(self) -> Session:
        """A session that is not live yet."""
        settings, defaults = self._settings(), self.defaults
        mode = defaults.get("mode", settings.mode)
        return Session(
            f"session-{secrets.token_hex(6)}",
            defaults.get("model", settings.models.modes.of(mode) or settings.model),
            mode,
            defaults.get("approval", settings.approval),
            defaults.get("thinking", settings.thinking),
            agent=defaults.get("agent", ""),
            usual_model=settings.model,
        )

    def set_defaults(self, wanted: Mapping[str, Any]) -> None:
        """Sets defaults for new sessions. A mode with its own model drops a default model that was set before."""
        if "mode" in wanted and self._settings().models.modes.of(wanted["mode"]) is not None:
            self.defaults.pop("model", None)
        self.defaults |= wanted

    def change(self, session: Session, wanted: Mapping[str, Any]) -> None:
        """Set the user's settings of a session."""
        if "mode" in wanted:
            change_mode(session, wanted["mode"], self._settings().models)
        for name, value in wanted.items():
            setattr(session, name, value)

    def tightened(self, row: SessionRow) -> SessionRow:
        """The row, with the mode and level with which the session continues. Stored ones are used only if they are
        stricter than the current ones."""
        now = self.make_session()
        mode, approval = min(row.mode, now.mode, key=MODES.index), min(row.approval, now.approval, key=LEVELS.index)
        return replace(row, mode=mode, approval=approval)

    def settings_state(self, _: str | None) -> dict[str, Any]:
        """For `tark.state`: the effective settings, with the user's defaults for new sessions."""
        chosen = {**self.defaults, "agent": self.defaults.get("agent") or None}
        model = self.make_session().model
        return {**self._settings().as_protocol_json(), "model": model, **chosen}

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
        "agent": session.agent or None,
    }


def columns(session: Session | SessionRow) -> dict[str, Any]:
    """The changeable fields of a session, by the names of the store's columns."""
    return {"title": session.title, **settings_json(session), "agent": session.agent}
