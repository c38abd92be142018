"""The openai SDK's types of events and responses, strictly: no field is missing, of another type, or unknown."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter

REPEATED: dict[str, Any] = {
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""What a response repeats of a request that sets nothing."""


@cache
def _adapter() -> TypeAdapter[Any]:
    from openai.types.responses import ResponseStreamEvent

    return TypeAdapter(ResponseStreamEvent)


def check_event(event: dict[str, Any]) -> None:
    """Raises ValidationError, and AssertionError for unknown fields."""
    validated = _adapter().validate_python(event)
    assert validated.type == event["type"], "no such event"
    assert list(_unknown(validated, event["type"])) == []


def check_response(response: dict[str, Any]) -> None:
    from openai.types.responses import Response

    assert list(_unknown(Response.model_validate(response), "response")) == []


def _unknown(value: object, where: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        yield from (f"{where}.{name}" for name in value.model_extra or ())
        for name, inner in value:
            yield from _unknown(inner, f"{where}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _unknown(inner, where)


def assembled(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items that the SDK collects from the stream. What it makes of the deltas alone must be the same."""
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in events:
        state.handle_event(_adapter().validate_python(event))
    ended = [state._completed_output[index].to_dict() for index in sorted(state._completed_output)]
    streamed = [item.to_dict() for item in state._ResponseStreamState__current_snapshot.output[: len(ended)]]
    for item, whole in zip(streamed, ended, strict=True):
        if item["type"] in ("message", "function_call"):
            assert _words(item) == _words(whole)
    return ended


def _words(item: dict[str, Any]) -> str:
    return str(item["arguments"]) if "arguments" in item else "".join(part.get("text", "") for part in item["content"])


def check_events(events: Sequence[dict[str, Any]]) -> None:
    """Every event is valid, and they are in the official order; only an end by failure leaves an item open."""
    for number, event in enumerate(events):
        check_event(event)
        assert event["sequence_number"] == number
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] in ("response.completed", "response.incomplete", "response.failed")
    assert not set(kinds[:-1]) & {"response.completed", "response.incomplete", "response.failed"}
    check_items(events[2:-1], failed=kinds[-1] == "response.failed")
    output = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert events[-1]["response"]["output"] == output
    ids = [item["id"] for item in output] + [item["call_id"] for item in output if "call_id" in item]
    assert len(set(ids)) == len(ids)
    check_response(events[-1]["response"])


def check_items(events: Sequence[dict[str, Any]], *, failed: bool) -> None:
    """Items one by one: added, its parts with their deltas, done."""
    index, item_id, whole, ended = -1, "", "", True
    for event in events:
        kind = event["type"].removeprefix("response.")
        if kind == "output_item.added":
            assert ended
            index, item_id, whole, ended = index + 1, event["item"]["id"], "", False
        assert event["output_index"] == index
        assert not ended
        assert event.get("item_id", item_id) == item_id
        if kind.endswith(".delta"):
            assert event["delta"]
            whole += event["delta"]
        text = next((event[name] for name in ("text", "arguments", "input", "refusal") if name in event), None)
        if kind.endswith(".done") and text is not None:
            assert text == whole
        if kind == "output_item.done":
            assert event["item"]["id"] == item_id
            ended = True
    assert ended or failed
