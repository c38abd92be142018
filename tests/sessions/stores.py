"""Session stores in a folder, the messages they report, and values to put into them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.messages import ApprovalLevel, Message, Mode, Text, ToolCall, ToolResult
from tark_lsp.sessions.rows import SessionRow, TurnRow
from tark_lsp.sessions.store import SessionStore

NAME = "sessions.sqlite3"
HOME = Path("/w")


@dataclass
class Stores:
    """Each `open` is like a store of another process, except for its pid. `said`: the messages of all of them."""

    folder: Path
    said: list[str] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / NAME

    def open(self) -> SessionStore:
        return SessionStore(lambda: self.file, self.said.append)


def row(id_: str, title: str = "", folders: Sequence[Path] = (HOME,), updated: float | None = None) -> SessionRow:
    now = time.time() if updated is None else updated
    return SessionRow(id_, title, now, now, tuple(folders), "p/m", Mode.BUILD, ApprovalLevel.CAREFUL)


def turn(id_: str, session_id: str, prompt: str = "do it", model: str | None = "p/m") -> TurnRow:
    return TurnRow(id_, session_id, prompt, "agent", model, time.time(), request={"kind": "agent"})


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def answer(text: str) -> Message:
    return Message("assistant", (Text(text),), "p/m")


def calling(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(id_, "read_file", "{}") for id_ in ids), "p/m")


def told(*ids: str) -> Message:
    return Message("tool", tuple(ToolResult(id_, f"result of {id_}") for id_ in ids))


def begun(store: SessionStore, session_id: str, turn_id: str, *messages: Message) -> None:
    """Begin a turn with these messages; creates the session if it does not exist."""
    if store.find_session(session_id) is None:
        store.create_session(row(session_id))
    store.log.begin_turn(turn(turn_id, session_id))
    for message in messages:
        store.log.add_message(session_id, turn_id, message, {call.id: f"call-{call.id}" for call in message.tool_calls})


def shown(store: SessionStore, turn_id: str, *updates: Mapping[str, Any], begin: int = 1) -> None:
    for seq, update in enumerate(updates, begin):
        store.log.add_update(turn_id, seq, update)


def call(id_: str, status: str, **more: Any) -> dict[str, Any]:
    return {"kind": "toolCall", "toolCallId": id_, "status": status, **more}


def text(delta: str) -> dict[str, Any]:
    return {"kind": "text", "delta": delta}


Work = Callable[[SessionStore], object]
