"""A turn as the server keeps it, from its command until it is forgotten."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tark_lsp.agent.events import AgentEvent
from tark_lsp.agent.kinds import Kind
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn
from tark_lsp.messages import ToolCall
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.protocol import incoming
from tark_lsp.server.turns.updates import Progress, Updates
from tark_lsp.visible import cut

LONGEST_REMEMBERED = 10_000
"""Characters of the prompt of a turn that has ended; the store has all of it."""


class Follower(Protocol):
    """Shows the answer of one turn in a place of its own, beside `tark/update`."""

    async def begin_answer(self) -> None:
        """Called before anything else of the turn is done.

        Raises TarkError if the answer cannot be shown: then the turn ends with that error.
        """
        ...

    def on_turn_event(self, event: AgentEvent) -> None: ...

    async def end_answer(self, end: dict[str, Any]) -> bool:
        """`end` is the turn's end as clients get it. False if not all was shown: then the answer is shown like others.

        Not called for a turn that never began.
        """
        ...


class Observer(Protocol):
    """Called for every turn of the server, before its client is told. No method may raise."""

    def on_turn_accepted(self, record: "TurnRecord") -> None:
        """Before the answer to `tark.turn.start`, so for a turn that has to wait, too."""
        ...

    def on_turn_event(self, record: "TurnRecord", event: AgentEvent) -> None: ...

    def on_update_sent(self, record: "TurnRecord", seq: int, update: Mapping[str, Any]) -> None:
        """Before `tark/update` is sent, also if the client does not understand it."""
        ...

    def on_turn_ended(self, record: "TurnRecord", end: Mapping[str, Any]) -> None:
        """`end` is the turn's end as clients get it; its update `end` was sent."""
        ...


@dataclass(eq=False, slots=True)
class TurnRecord:
    """`target`: what the turn is about. `turn`: the agent's side, once it began. `steering`: what the user says while
    the turn runs. `shown_hunks`: the state of its hunks in each file, as last sent to the client."""

    request: incoming.StartTurn
    kind: Kind
    session: Session
    target: Target | None
    updates: Updates
    progress: Progress
    id: str
    ended: "asyncio.Future[dict[str, Any]]"
    follower: Follower | None = None
    calls: tuple[ToolCall, ...] = ()
    """Calls that the user makes, in place of a model."""
    task: "asyncio.Task[None] | None" = None
    turn: Turn | None = None
    began: bool = False
    steering: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Warnings for the user, sent when the turn has started."""
    shown_hunks: dict[Path, list[tuple[str, str, bool]]] = field(default_factory=dict)
    context: tuple[int, int | None] = (0, None)
    """Tokens of its last request, and how many fit into the context window."""
    diffs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By the id of each call that has not ended: what it wants to change, as the client was shown it."""

    @property
    def over(self) -> bool:
        return self.ended.done()

    def steer(self, prompt: str) -> bool:
        """Say something to the running turn. False if it has ended."""
        if not self.over:
            self.steering.append(prompt)
        return not self.over

    async def wait(self, token: str | int | None) -> dict[str, Any]:
        """The turn's end. Cancelling does not cancel the turn.

        `token`: show progress under it, too, until this returns.
        """
        if token is not None:
            self.progress.mirror(token)
        try:
            return await asyncio.shield(self.ended)
        except asyncio.CancelledError:
            if token is not None:
                self.progress.forget(token)
            raise

    def state_json(self) -> dict[str, Any]:
        """For `tark.state`."""
        return {
            "sessionId": self.session.id,
            "turnId": self.id,
            "prompt": self.request.prompt,
            "kind": self.kind.name,
            "state": "queued" if self.task is None else "running",
            "seq": self.updates.seq,
        }

    def release_memory(self) -> None:
        """After the end, drop what is large: many turns are remembered, for their ends and their hunks.

        The id and the settings of the session stay. The session itself can go on, or be on disk only.
        """
        words = cut(self.request.prompt, LONGEST_REMEMBERED)
        self.request = self.request.model_copy(update={"context": [], "prompt": words})
        known = self.session
        self.session = Session(known.id, known.model, known.mode, known.approval, known.thinking, title=known.title)
        self.target = self.follower = self.task = self.turn = None
        self.calls = ()
