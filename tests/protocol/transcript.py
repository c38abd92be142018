"""What the updates of a session make: a transcript, which is turns of blocks. The rules are in docs/clients.md.

The same in editors/neovim/lua/tark/state/transcript.lua and editors/vscode/src/model/transcript.ts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Mapping[str, Any]

OF_START = ("prompt", "turnKind", "model", "mode", "range")
OF_CALL = ("name", "title", "toolKind", "status", "arguments", "locations", "content")
OF_USAGE = (
    "inputTokens", "cachedTokens", "outputTokens", "reasoningTokens", "costUsd", "contextUsed", "contextWindow",
)  # fmt: skip
OF_END = ("stopReason", "error", "edits", "changedByCommand")
OVER = frozenset({"completed", "failed", "rejected", "cancelled"})
INTERRUPTED = {
    "code": "interrupted",
    "message": "the server ended while this turn ran",
    "hint": "what was done until then is kept: say how to go on",
}
NOTHING: tuple[object, ...] = (None, "", [])
"""Values of fields that are as good as absent."""


@dataclass(frozen=True, slots=True)
class Words:
    kind: Literal["text", "thinking", "prompt"]
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    level: str
    message: str
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`told`: the fields of the contract that were told of it, by their names."""

    id: str
    told: Json
    kind: Literal["toolCall"] = "toolCall"

    def further(self, update: Json) -> "ToolCall":
        return replace(self, told={**self.told, **taken(update, OF_CALL)})


Block: TypeAlias = Words | Notice | ToolCall


@dataclass(slots=True, eq=False)
class Turn:
    """`told`: what was told of all of it, by the names of the contract. `calls`: the places of its tool calls."""

    id: str
    seq: int = 0
    gap: bool = False
    listed: bool = False
    state: str = "queued"
    told: dict[str, Any] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)

    def tell(self, update: Json) -> "Change | None":
        """None: nothing is to be drawn anew."""
        match update["kind"]:
            case "start":
                self.told |= taken(update, OF_START)
                return Change(self, "turn")
            case "text" | "thinking" as kind:
                return self._say(kind, update.get("delta") or "")
            case "toolCall":
                return self._call(update["toolCallId"], update)
            case "notice":
                return self.add(Notice(update["level"], update["message"]))
            case "plan":
                self.told.pop("plan", None)
                self.told |= {"plan": update["entries"]} if update.get("entries") else {}
                return Change(self, "plan")
            case "usage":
                self.told["usage"] = taken(update, OF_USAGE)
                return Change(self, "usage")
            case "end":
                self.told |= taken(update, OF_END)
                if update.get("usage") is not None:
                    self.told["usage"] = taken(update["usage"], OF_USAGE)
                self.finish()
                return Change(self, "turn")
        raise ValueError(update)

    def add(self, block: Block) -> "Change":
        self.blocks.append(block)
        return Change(self, "block", len(self.blocks) - 1)

    def _say(self, kind: Literal["text", "thinking"], words: str) -> "Change | None":
        if not words:
            return None
        last = self.blocks[-1] if self.blocks else None
        if not isinstance(last, Words) or last.kind != kind:
            return self.add(Words(kind, words))
        self.blocks[-1] = Words(kind, last.text + words)
        return Change(self, "text", len(self.blocks) - 1)

    def _call(self, call_id: str, update: Json) -> "Change":
        place = self.calls.get(call_id)
        if place is None:
            self.calls[call_id] = len(self.blocks)
            return self.add(ToolCall(call_id, {"status": "pending"}).further(update))
        call = self.blocks[place]
        assert isinstance(call, ToolCall)
        self.blocks[place] = call.further(update)
        return Change(self, "toolCall", place)

    def finish(self) -> None:
        """Calls that were not over never will be; what they had to show stays."""
        self.state = "ended"
        self.blocks = [
            block.further({"status": "cancelled"})
            if isinstance(block, ToolCall) and block.told["status"] not in OVER
            else block
            for block in self.blocks
        ]


KINDS = frozenset({"start", "text", "thinking", "toolCall", "notice", "plan", "usage", "end"})
"""Of updates; all others are left to clients that know them."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be drawn anew: `turn block text toolCall plan usage`; `block` is a place in the turn's blocks."""

    turn: Turn
    kind: str
    block: int | None = None


@dataclass(slots=True)
class Transcript:
    """`by_id` has turns, too, of which nothing but hunks was told; these are not listed."""

    session_id: str
    earlier: bool = False
    turns: list[Turn] = field(default_factory=list)
    by_id: dict[str, Turn] = field(default_factory=dict)

    def reduce(self, params: Json) -> Change | None:
        """The next `tark/update`. Those of other sessions, and those that were here already, change nothing."""
        if params["sessionId"] != self.session_id:
            return None
        turn, seq = self._turn(params["turnId"]), params["seq"]
        if seq <= turn.seq:
            return None
        turn.gap = turn.gap or seq > turn.seq + 1
        turn.seq = seq
        return self.tell(params["turnId"], params["update"])

    def tell(self, turn_id: str, update: Json) -> Change | None:
        """What was told of a turn, whatever its number."""
        if update["kind"] not in KINDS:
            return None
        turn = self.listed(turn_id)
        turn.state = "running" if turn.state == "queued" else turn.state
        return turn.tell(update)

    def asked(self, turn_id: str, prompt: str) -> Change | None:
        """A turn that was started, before anything is told of it: it may have to wait. None: it began already."""
        if self._turn(turn_id).listed:
            return None
        turn = self.listed(turn_id)
        turn.told["prompt"] = prompt
        return Change(turn, "turn")

    def steered(self, turn_id: str, prompt: str) -> Change:
        """What the person said to a running turn, once `tark.turn.steer` accepted it."""
        return self.listed(turn_id).add(Words("prompt", prompt))

    def interrupted(self) -> list[Turn]:
        """The server died: what ran or waited is over. Gives the turns that ended by it."""
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
        """As the cases write it, in the names of the contract."""
        turns = [_turn_json(turn) for turn in self.turns]
        return {"sessionId": self.session_id, "earlier": self.earlier, "turns": turns}


def taken(source: Json, fields: Iterable[str]) -> dict[str, Any]:
    return {name: source[name] for name in fields if source.get(name) not in NOTHING}


def _turn_json(turn: Turn) -> dict[str, Any]:
    numbers = {"turnId": turn.id, "seq": turn.seq, "gap": turn.gap, "state": turn.state}
    return {**numbers, "prompt": "", **turn.told, "blocks": [_block_json(block) for block in turn.blocks]}


def _block_json(block: Block) -> dict[str, Any]:
    match block:
        case Words(kind, text):
            return {"kind": kind, "text": text}
        case Notice(level, message):
            return {"kind": "notice", "level": level, "message": message}
        case ToolCall(id_, told):
            return {"kind": "toolCall", "toolCallId": id_, **told}
