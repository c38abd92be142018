"""Reduces the updates of a session to a transcript: turns that consist of blocks. The rules are in docs/clients.md.

The table in docs/protocol.md says which kinds of updates are a block each. The same is in
editors/neovim/lua/tark/state/transcript.lua and editors/vscode/src/model/transcriptTurn.ts.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.documented import documented_blocks

Json: TypeAlias = Mapping[str, Any]
Block: TypeAlias = dict[str, Any]
"""Its `kind` and its fields, in the names of the protocol."""

OF_START = ("prompt", "turnKind", "model", "mode", "range", "uri")
OF_CALL = ("name", "title", "toolKind", "status", "arguments", "locations", "content", "outcome")
OF_USAGE = (
    "inputTokens", "cachedTokens", "outputTokens", "reasoningTokens", "costUsd", "contextUsed", "contextWindow",
)  # fmt: skip
OF_END = ("stopReason", "error", "edits", "changedByCommand")
OVER = frozenset({"completed", "failed", "rejected", "cancelled"})
INTERRUPTED = {
    "code": "interrupted",
    "message": "the server ended while this turn ran",
    "hint": "what was done until then is kept: send a prompt to continue",
}
NOTHING: tuple[object, ...] = (None, "", [])
"""Values of fields that are as good as absent."""


@dataclass(slots=True, eq=False)
class Turn:
    """`told`: its other fields, in the names of the protocol. `calls`: the indexes of its tool calls."""

    id: str
    seq: int = 0
    gap: bool = False
    listed: bool = False
    state: str = "queued"
    told: dict[str, Any] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)

    def add(self, block: Block) -> "Change":
        self.blocks.append(block)
        return Change(self, "block", len(self.blocks) - 1)

    def finish(self) -> None:
        """Calls that have not ended never will. Their content stays."""
        self.state = "ended"
        for place in self.calls.values():
            if self.blocks[place]["status"] not in OVER:
                self.blocks[place]["status"] = "cancelled"


@dataclass(frozen=True, slots=True)
class Change:
    """What to draw again: `turn block text toolCall plan usage`. `block` is an index in the turn's blocks."""

    turn: Turn
    kind: str
    block: int | None = None


def _start(turn: Turn, update: Json) -> Change:
    turn.told |= taken(update, OF_START)
    return Change(turn, "turn")


def _say(turn: Turn, update: Json) -> Change | None:
    kind, words = update["kind"], update.get("delta")
    if not words:
        return None
    if not turn.blocks or turn.blocks[-1]["kind"] != kind:
        return turn.add({"kind": kind, "text": words})
    turn.blocks[-1]["text"] += words
    return Change(turn, "text", len(turn.blocks) - 1)


def _call(turn: Turn, update: Json) -> Change:
    id_ = update["toolCallId"]
    place = turn.calls.get(id_)
    if place is None:
        turn.calls[id_] = len(turn.blocks)
        return turn.add({"kind": "toolCall", "toolCallId": id_, "status": "pending", **taken(update, OF_CALL)})
    turn.blocks[place] |= taken(update, OF_CALL)
    return Change(turn, "toolCall", place)


def _plan(turn: Turn, update: Json) -> Change:
    turn.told.pop("plan", None)
    turn.told |= taken({"plan": update.get("entries")}, ["plan"])
    return Change(turn, "plan")


def _usage(turn: Turn, update: Json) -> Change:
    turn.told["usage"] = taken(update, OF_USAGE)
    return Change(turn, "usage")


def _undone(turn: Turn, update: Json) -> Change:
    turn.told.pop("undone", None)
    turn.told |= taken(update, ["undone"])
    return Change(turn, "turn")


def _end(turn: Turn, update: Json) -> Change:
    turn.told |= taken(update, OF_END)
    if update.get("usage") is not None:
        turn.told["usage"] = taken(update["usage"], OF_USAGE)
    turn.finish()
    return Change(turn, "turn")


def _block_of(fields: Iterable[str]) -> "Rule":
    return lambda turn, update: turn.add({"kind": update["kind"], **{name: update.get(name) for name in fields}})


Rule: TypeAlias = Callable[[Turn, Json], Change | None]
RULES: Mapping[str, Rule] = {
    "start": _start,
    "text": _say,
    "thinking": _say,
    "toolCall": _call,
    "plan": _plan,
    "usage": _usage,
    "undone": _undone,
    "end": _end,
    **{kind: _block_of(fields) for kind, fields in documented_blocks().items()},
}
"""What each kind of update changes. None: nothing is to be drawn again. Other kinds are ignored."""


@dataclass(slots=True)
class Transcript:
    """`by_id` also has turns of which only hunks are known; these are not listed."""

    session_id: str
    earlier: bool = False
    turns: list[Turn] = field(default_factory=list)
    by_id: dict[str, Turn] = field(default_factory=dict)

    def reduce(self, params: Json) -> Change | None:
        """Applies a `tark/update`. Updates of other sessions, and those that were applied already, change nothing."""
        if params["sessionId"] != self.session_id:
            return None
        turn, seq = self._turn(params["turnId"]), params["seq"]
        if seq <= turn.seq:
            return None
        turn.gap = turn.gap or seq > turn.seq + 1
        turn.seq = seq
        return self.tell(params["turnId"], params["update"])

    def tell(self, turn_id: str, update: Json) -> Change | None:
        """Applies an update regardless of its number."""
        if update["kind"] not in RULES or (update["kind"] == "undone" and not self._turn(turn_id).listed):
            return None
        turn = self.listed(turn_id)
        turn.state = "running" if turn.state == "queued" else turn.state
        return RULES[update["kind"]](turn, update)

    def asked(self, turn_id: str, prompt: str) -> Change | None:
        """Adds a turn that the server accepted, before its first update: it can wait for others. None: it has begun."""
        if self._turn(turn_id).listed:
            return None
        turn = self.listed(turn_id)
        turn.told["prompt"] = prompt
        return Change(turn, "turn")

    def steered(self, turn_id: str, prompt: str) -> Change:
        """Adds what the user said to a running turn, after `tark.turn.steer` accepted it."""
        return self.listed(turn_id).add({"kind": "prompt", "text": prompt})

    def interrupted(self) -> list[Turn]:
        """The server has ended: turns that ran or waited are over. Returns these turns."""
        ended = [turn for turn in self.turns if turn.state != "ended"]
        for turn in ended:
            turn.finish()
            turn.told |= {"stopReason": "error", "error": INTERRUPTED}
        return ended

    def _turn(self, turn_id: str) -> Turn:
        return self.by_id.setdefault(turn_id, Turn(turn_id))

    def listed(self, turn_id: str) -> Turn:
        turn = self._turn(turn_id)
        if not turn.listed:
            turn.listed = True
            self.turns.append(turn)
        return turn

    def json(self) -> dict[str, Any]:
        """As the cases write it, in the names of the protocol."""
        turns = [_turn_json(turn) for turn in self.turns]
        return {"sessionId": self.session_id, "earlier": self.earlier, "turns": turns}


def taken(source: Json, fields: Iterable[str]) -> dict[str, Any]:
    return {name: source[name] for name in fields if source.get(name) not in NOTHING}


def _turn_json(turn: Turn) -> dict[str, Any]:
    numbers = {"turnId": turn.id, "seq": turn.seq, "gap": turn.gap, "state": turn.state}
    return {**numbers, "prompt": "", **turn.told, "blocks": [dict(block) for block in turn.blocks]}
