"""Encodes answers as OpenAI streams Responses, and reads the input items of such a request.

As in the recordings: every event is numbered. An item is sent when it starts, and again complete when it is done. The
`encrypted_content` of a reasoning item differs between the two: only the one of the done item can be sent back.
"""

from collections.abc import Iterator
from typing import Any

from tark_lsp.llm.scripted.playback import HistoryEntry, Playback, arguments_text, objects, texts_of
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.messages import FIND_TOOLS


class _Events:
    """Numbers the events, and collects the items that are done."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._number = 0
        self.output: list[dict[str, Any]] = []

    def event(self, kind: str, **fields: Any) -> bytes:
        data = encode_json({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), data)

    def response(self, kind: str, status: str, usage: dict[str, Any] | None = None) -> bytes:
        response = {
            "id": f"resp_script_{self._playback.first_call}",
            "object": "response",
            "created_at": 0,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "max_output_tokens": None,
            "model": self._playback.model,
            "output": self.output,
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "service_tier": "default",
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage,
            "user": None,
            "metadata": {},
        }
        return self.event(kind, response=response)

    def item(self, started: dict[str, Any], inside: Iterator[bytes], done: dict[str, Any]) -> Iterator[bytes]:
        """`started`: the fields when the item starts. `done`: the fields that are added or changed when it is done."""
        index = len(self.output)
        yield self.event("response.output_item.added", output_index=index, item=started)
        yield from inside
        self.output.append({**started, **done})
        yield self.event("response.output_item.done", output_index=index, item=self.output[-1])

    def deltas(self, kind: str, text: str, done_field: str, **place: Any) -> Iterator[bytes]:
        """The pieces of `text` as `<kind>.delta`, then `<kind>.done` with all of it."""
        for piece in self._playback.pieces(text):
            yield self.event(f"{kind}.delta", **place, delta=piece, obfuscation="scripted")
        yield self.event(f"{kind}.done", **place, **{done_field: text})


def frames(playback: Playback) -> Iterator[bytes]:
    reply = playback.reply
    events = _Events(playback)
    yield events.response("response.created", "in_progress")
    yield events.response("response.in_progress", "in_progress")
    if reply.thinking:
        item_id = f"rs_script_{playback.first_call}"
        started = {"id": item_id, "type": "reasoning", "summary": [], "encrypted_content": "unfinished"}
        done = {"summary": [_summary(reply.thinking)], "encrypted_content": f"scripted-{playback.first_call}"}
        yield from events.item(started, _thinking(events, item_id, reply.thinking), done)
    if reply.text:
        item_id = f"msg_script_{playback.first_call}"
        phase = "commentary" if reply.calls else "final_answer"
        started = {"id": item_id, "type": "message", "status": "in_progress", "content": [], "phase": phase}
        started["role"] = "assistant"
        done = {"status": "completed", "content": [_output_text(reply.text)]}
        yield from events.item(started, _text(events, item_id, reply.text), done)
    for number, call in playback.calls:
        if call.name == FIND_TOOLS and playback.searches:
            yield from events.item(_search(number), iter(()), {"status": "completed", "arguments": call.arguments})
            continue
        item_id, arguments = f"fc_script_{number}", arguments_text(call)
        started = {"id": item_id, "type": "function_call", "status": "in_progress", "arguments": ""}
        started |= {"call_id": f"call_script_{number}", "name": call.name}
        place = {"item_id": item_id, "output_index": len(events.output)}
        deltas = events.deltas("response.function_call_arguments", arguments, "arguments", **place)
        yield from events.item(started, deltas, {"status": "completed", "arguments": arguments})
    if reply.cut:
        return
    read, written = playback.input_tokens, playback.thinking_tokens + playback.text_tokens
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": playback.thinking_tokens},
        "total_tokens": read + written,
    }
    yield events.response("response.completed", "completed", usage)


def _search(number: int) -> dict[str, Any]:
    ids = {"id": f"tsc_script_{number}", "call_id": f"call_script_{number}"}
    return {"type": "tool_search_call", **ids, "status": "in_progress", "execution": "client", "arguments": {}}


def _thinking(events: _Events, item_id: str, text: str) -> Iterator[bytes]:
    place = {"item_id": item_id, "output_index": len(events.output), "summary_index": 0}
    kind = "response.reasoning_summary"
    yield events.event(f"{kind}_part.added", **place, part=_summary(""))
    yield from events.deltas(f"{kind}_text", text, "text", **place)
    yield events.event(f"{kind}_part.done", **place, part=_summary(text))


def _text(events: _Events, item_id: str, text: str) -> Iterator[bytes]:
    place = {"item_id": item_id, "output_index": len(events.output), "content_index": 0}
    yield events.event("response.content_part.added", **place, part=_output_text(""))
    yield from events.deltas("response.output_text", text, "text", **place, logprobs=[])
    yield events.event("response.content_part.done", **place, part=_output_text(text))


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def history(body: dict[str, Any]) -> list[HistoryEntry]:
    """The items are on one level: a message can lack its type, and a result is a separate item."""
    said: list[HistoryEntry] = []
    names: dict[str, str] = {}
    for item in objects(body.get("input")):
        match item.get("type", "message"):
            case "message" if item["role"] not in ("system", "developer"):
                said.append(HistoryEntry(texts_of(item["content"])))
            case "function_call":
                names[item["call_id"]] = item["name"]
                said.append(HistoryEntry())
            case "tool_search_call":
                names[item["call_id"]] = FIND_TOOLS
                said.append(HistoryEntry())
            case "tool_search_output":
                said.append(HistoryEntry([tool["name"] for tool in objects(item["tools"])], [FIND_TOOLS]))
            case "function_call_output":
                said.append(HistoryEntry(texts_of(item["output"]), [names[item["call_id"]]]))
    return said
