"""The values that the session store reads and writes, one class per kind of row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.errors import TarkError
from tark_lsp.messages import ApprovalLevel, Message, Mode, Usage

COPY_OF = "copyOf"
"""In the request of a turn: the id of the turn that it was copied from with its session."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Times are in seconds since 1970. `folders`: the folders of the workspace. `parent`: the session it was forked
    from.

    The store counts `turns` and `cost_usd`, which is None if no price is known.
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
    agent: str = ""
    """The name of its custom agent; empty: none."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """`number` counts the messages of the session, from 1. `turn_id` is "" if the session began with the message.

    `call_ids` maps the provider's id of each call to Tark's id. `seq`: of the turn's last update before the message.
    """

    number: int
    turn_id: str
    time: float
    message: Message
    call_ids: Mapping[str, str] = field(default_factory=dict)
    seq: int = 0


@dataclass(frozen=True, slots=True)
class TurnRow:
    """`prompt`: what the user typed. `request`: what is needed to show the turn. `end`: the JSON of the turn's end."""

    id: str
    session_id: str
    prompt: str
    kind: str
    model: str | None
    began: float
    ended: float | None = None
    end: Mapping[str, Any] | None = None
    request: Mapping[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """In a fork, the id of the turn that it is a copy of, else its own. Its changes are recorded under this id."""
        return str(self.request.get(COPY_OF) or self.id)


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a session. `renewed`: when it last renewed its lease, in seconds since 1970."""

    pid: int
    host: str
    renewed: float


@dataclass(frozen=True, slots=True)
class History:
    """What the model is sent, with the summary first, if any. The first `shortened` messages have shortened results."""

    messages: tuple[Message, ...]
    shortened: int = 0


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One request to a model: when it ended, how long it took, how it ended, what it used."""

    session_id: str
    turn_id: str
    model: str
    purpose: str
    time: float
    seconds: float
    stop: str
    usage: Usage
    workspace: str = ""
    """The path of the workspace's first folder."""


class SessionHeld(TarkError):
    """Another process holds the session, or (`holder` None) this process does not."""

    code = "session_held"

    def __init__(self, holder: Holder | None) -> None:
        who = f"another editor (process {holder.pid})" if holder else "another editor, or none,"
        super().__init__(f"{who} has this session open", hint="fork it, or close it there")
        self.holder = holder
