"""The server's record of a turn, from its command until it is forgotten."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tark_lsp.agent.events import AgentEvent
from tark_lsp.agent.kinds import Kind
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn
from tark_lsp.errors import TarkError
from tark_lsp.messages import ToolCall
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.protocol import incoming
from tark_lsp.server.turns.updates import Progress, Updates
from tark_lsp.visible import cut

LONGEST_REMEMBERED = 10_000
"""The most characters of the prompt of a turn that ended. The store has the whole prompt."""


class Follower(Protocol):
    """Shows the answer of one turn in a separate place, in addition to `tark/update`."""

    async def begin_answer(self) -> None:
        """Called before anything else of the turn.

        Raises TarkError if the answer cannot be shown. Then the turn ends with that error.
        """
        ...

    def on_turn_event(self, event: AgentEvent) -> None: ...

    async def end_answer(self, end: dict[str, Any]) -> bool:
        """`end` is the turn's end as clients get it. Returns False if not everything was shown. Then the answer is
        shown like other answers.

        Not called for a turn that never began.
        """
        ...


class Observer(Protocol):
    """Called for every turn of the server, before the client is notified.

    If a method raises, the other observers and the client are still notified, and the turn ends as an error.
    """

    def on_turn_accepted(self, record: "TurnRecord") -> None:
        """Called before the answer to `tark.turn.start`, even if the turn has to wait."""
        ...

    def on_turn_event(self, record: "TurnRecord", event: AgentEvent) -> None: ...

    def on_update_sent(self, record: "TurnRecord", seq: int, update: Mapping[str, Any]) -> None:
        """Called before `tark/update` is sent, even if the client does not understand it."""
        ...

    def on_turn_ended(self, record: "TurnRecord", end: Mapping[str, Any]) -> None:
        """Called after the update `end` was sent. `end` is the turn's end as clients get it."""
        ...


@dataclass(eq=False, slots=True)
class TurnRecord:
    """`target`: what the turn is about. `turn`: the agent's turn, after it began. `steering`: the user's prompts while
    the turn runs. `shown_hunks`: the states of its hunks in each file, as last sent to the client."""

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
    """Calls that the user makes in place of a model."""
    task: "asyncio.Task[None] | None" = None
    turn: Turn | None = None
    began: bool = False
    steering: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Warnings for the user, sent after the turn started."""
    shown_hunks: dict[Path, list[tuple[str, str, bool]]] = field(default_factory=dict)
    context: tuple[int, int | None] = (0, None)
    """The tokens of the last request, and the size of the context window."""
    fault: TarkError | None = None
    """The first bug of Tark in this turn, if there was one. The turn ends with it."""
    diffs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By the id of each call that has not ended: its proposed changes, as shown to the client."""

    @property
    def over(self) -> bool:
        return self.ended.done()

    def steer(self, prompt: str) -> bool:
        """Send a prompt to the running turn. False if it has ended."""
        if not self.over:
            self.steering.append(prompt)
        return not self.over

    async def wait(self, token: str | int | None) -> dict[str, Any]:
        """Wait for the turn's end, and return it. If this is cancelled, the turn goes on.

        `token`: also show progress under this token, until this returns.
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
        """Drop large data after the end, because many turns are remembered, for their ends and hunks.

        The id and the settings of the session stay. The session itself can continue, or exist only on disk.
        """
        words = cut(self.request.prompt, LONGEST_REMEMBERED)
        self.request = self.request.model_copy(update={"context": [], "prompt": words})
        known = self.session
        self.session = Session(known.id, known.model, known.mode, known.approval, known.thinking, title=known.title)
        self.target = self.follower = self.task = self.turn = None
        self.calls = ()
