"""The output items of a response, and the events of each kind, as one table of shapes. Pure.

The names and their order are those of OpenAI's specification and of recorded streams.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Event: TypeAlias = dict[str, Any]
"""One event, before it gets its `sequence_number`."""

Kind: TypeAlias = Literal["message", "refusal", "reasoning", "function_call", "custom_tool_call", "tool_search_call"]
Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]


@dataclass(frozen=True, slots=True)
class Shape:
    """How an item of one kind is streamed. All its events are between `output_item.added` and `output_item.done`.

    - `id_prefix`: how its id begins.
    - `part`: the event name of the content part around its text; "" if there is none. `part_type`: the part's type.
    - `index`: the field with the number of the part.
    - `text`: the event name of its text, which `.delta` or `.done` follows; "" if there is none.
    - `whole`: the field with the whole text, in `.done`, in the part and in the item.
    - `has_status`: whether the item has a `status`.

    A refusal is a message whose part has another type.
    """

    id_prefix: str
    text: str
    whole: str
    part: str = ""
    part_type: str = ""
    index: str = ""
    has_status: bool = True


SHAPES: Mapping[Kind, Shape] = {
    "message": Shape("msg", "output_text", "text", "content_part", "output_text", "content_index"),
    "refusal": Shape("msg", "refusal", "refusal", "content_part", "refusal", "content_index"),
    "reasoning": Shape(
        "rs", "reasoning_summary_text", "text", "reasoning_summary_part", "summary_text", "summary_index", False
    ),
    "function_call": Shape("fc", "function_call_arguments", "arguments"),
    "custom_tool_call": Shape("ctc", "custom_tool_call_input", "input", has_status=False),
    "tool_search_call": Shape("tsc", "", "arguments"),
}


@dataclass(slots=True)
class Item:
    """One output item while it is streamed. `fields`: the fields of its kind except the text, such as `call_id`."""

    kind: Kind
    id: str
    output_index: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    _delta: Event | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def shape(self) -> Shape:
        return SHAPES[self.kind]

    def open(self) -> list[Event]:
        """The first event. The content part is opened only with the first piece of text."""
        return [_event("output_item.added", output_index=self.output_index, item=self.as_json("in_progress"))]

    def add(self, piece: str) -> list[Event]:
        shape = self.shape
        events = [self._part_event("added", "")] if shape.part and not self.pieces else []
        self.pieces.append(piece)
        if not shape.text:
            return events
        if self._delta is None:  # built once, because there can be thousands of deltas
            self._delta = self._event(f"{shape.text}.delta", **self._logprobs)
        return [*events, {**self._delta, "delta": piece}]

    def close(self, status: Status, fields: Mapping[str, Any] | None = None) -> list[Event]:
        """The last events. `fields`: those that are known only at the end."""
        shape, text = self.shape, self.text
        self.fields = {**self.fields, **(fields or {})}
        events: list[Event] = []
        if shape.text and (self.pieces or not shape.part):
            events.append(self._event(f"{shape.text}.done", **{shape.whole: text}, **self._logprobs))
        if shape.part and self.pieces:
            events.append(self._part_event("done", text))
        return [*events, _event("output_item.done", output_index=self.output_index, item=self.as_json(status))]

    def as_json(self, status: Status) -> dict[str, Any]:
        """The item in its current state; without text while it is in progress."""
        text = "" if status == "in_progress" else self.text
        item: dict[str, Any] = {"id": self.id, "type": "message" if self.kind == "refusal" else self.kind}
        if self.shape.has_status:
            item["status"] = status
        match self.kind:
            case "message" | "refusal":
                item |= {"role": "assistant", "content": [self._part(text)] if text else []}
            case "reasoning":
                item |= {"summary": [self._part(text)] if text else []}
            case "function_call" | "custom_tool_call":
                item[self.shape.whole] = text
        return item | dict(self.fields)

    @property
    def _logprobs(self) -> Mapping[str, Any]:
        return {"logprobs": []} if self.kind == "message" else {}

    def _part(self, text: str) -> dict[str, Any]:
        annotations: dict[str, Any] = {"annotations": [], "logprobs": []} if self.kind == "message" else {}
        return {"type": self.shape.part_type, self.shape.whole: text, **annotations}

    def _part_event(self, what: str, text: str) -> Event:
        return self._event(f"{self.shape.part}.{what}", part=self._part(text))

    def _event(self, kind: str, **fields: Any) -> Event:
        place: dict[str, Any] = {"item_id": self.id, "output_index": self.output_index}
        if self.shape.index:
            place[self.shape.index] = 0
        return _event(kind, **place, **fields)


def _event(kind: str, **fields: Any) -> Event:
    return {"type": f"response.{kind}", **fields}
