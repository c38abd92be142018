"""What the store of sessions gives and takes: frozen values, as they are in its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.errors import TarkError
from tark_lsp.messages import ApprovalLevel, Message, Mode, Usage


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Times are seconds since 1970. `folders` are those of the workspace; `parent` is what it was forked from.

    `turns` and `cost_usd` are counted by the store; None: no price is known.
    """

    id: str
    title: str
    created: float
    updated: float
    folders: tuple[Path, ...]
    model: str | None
    mode: Mode
    approval: ApprovalLevel
    thinking: str = "auto"
    parent: str | None = None
    turns: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """`number` counts on in its session, from 1. `turn_id` is "" for what it was begun with.

    `call_ids`: the provider's id of each of its calls -> ours. `seq`: of the turn's last update by then.
    """

    number: int
    turn_id: str
    time: float
    message: Message
    call_ids: Mapping[str, str] = field(default_factory=dict)
    seq: int = 0


@dataclass(frozen=True, slots=True)
class TurnRow:
    """`prompt` is what the person typed, `request` what is needed to show it, `end` the JSON of the turn's end."""

    id: str
    session_id: str
    prompt: str
    kind: str
    model: str | None
    began: float
    ended: float | None = None
    end: Mapping[str, Any] | None = None
    request: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has a session; `beat`: when it last said so, in seconds since 1970 by its clock."""

    pid: int
    host: str
    beat: float


@dataclass(frozen=True, slots=True)
class History:
    """As it is told: the summary first where there is one. Tool results in the first `shortened` are shortened."""

    messages: tuple[Message, ...]
    shortened: int = 0


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One request to a model: when it was over, how long it took, how it ended, what it used."""

    session_id: str
    turn_id: str
    model: str
    purpose: str
    time: float
    seconds: float
    stop: str
    usage: Usage
    workspace: str = ""
    """Path of the workspace's first folder."""


class SessionHeld(TarkError):
    """Another process writes the session, or (`holder` None) this one does not have it."""

    code = "session_held"

    def __init__(self, holder: Holder | None) -> None:
        who = f"another editor (process {holder.pid})" if holder else "another editor, or none,"
        super().__init__(f"{who} has this session open", hint="fork it, or close it there")
        self.holder = holder
