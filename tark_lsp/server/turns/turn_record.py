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
from tark_lsp.server import protocol
from tark_lsp.server.asking.visible import cut
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.turns.updates import Progress, Updates

LONGEST_REMEMBERED = 10_000
"""Characters of the prompt of a turn that is over; the store has all of it."""


class Follower(Protocol):
    """Shows the answer of one turn in a place of its own, beside `tark/update`."""

    async def begin(self) -> None:
        """Before anything else of the turn is done. Raises TarkError where it cannot be shown: that is its end."""
        ...

    def event(self, event: AgentEvent) -> None: ...

    async def end(self, end: dict[str, Any]) -> bool:
        """The turn's end, as clients get it. False: not all was shown, so that it is to be shown as other answers are.

        Not called for a turn that never began.
        """
        ...


class Observer(Protocol):
    """Hears of every turn of the server, before its client does. None of these may raise."""

    def accepted(self, record: "TurnRecord") -> None:
        """Before the answer to `tark.turn.start`, so also of a turn that has to wait."""
        ...

    def event(self, record: "TurnRecord", event: AgentEvent) -> None: ...

    def told(self, record: "TurnRecord", seq: int, update: Mapping[str, Any]) -> None:
        """What `tark/update` is about to say, whether or not the client wants to hear it."""
        ...

    def ended(self, record: "TurnRecord", end: Mapping[str, Any]) -> None:
        """The turn's end, as clients get it; its `end` was told by then."""
        ...


@dataclass(eq=False, slots=True)
class TurnRecord:
    """`target` is what it is about, `turn` the agent's side once it began, `steering`
    what the person says while it runs, `told` how its hunks in each file were told to stand."""

    request: protocol.StartTurn
    kind: Kind
    session: Session
    target: Target | None
    updates: Updates
    progress: Progress
    id: str
    ended: "asyncio.Future[dict[str, Any]]"
    follower: Follower | None = None
    task: "asyncio.Task[None] | None" = None
    turn: Turn | None = None
    began: bool = False
    steering: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the person is to be told when it has started."""
    told: dict[Path, list[tuple[str, str, bool]]] = field(default_factory=dict)
    context: tuple[int, int | None] = (0, None)
    """Tokens its last request took, and the most there may be."""
    diffs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Of calls that are not over, by their ids: what they want to change, as the client was shown it."""

    @property
    def over(self) -> bool:
        return self.ended.done()

    def let_go(self) -> None:
        """After its end, of what weighs: many turns are remembered, for their ends and their hunks.

        Of the session its id and settings stay; it may go on, or be on disk alone.
        """
        words = cut(self.request.prompt, LONGEST_REMEMBERED)
        self.request = self.request.model_copy(update={"context": [], "prompt": words})
        known = self.session
        self.session = Session(known.id, known.model, known.mode, known.approval, known.thinking, title=known.title)
        self.target = self.follower = self.task = self.turn = None
