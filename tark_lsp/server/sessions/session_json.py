"""The JSON of a session for clients: its settings, and its messages with the results inside their calls. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.messages import Image, Message, Thinking, ToolResult
from tark_lsp.server.sessions.shown_turn import ShownTurn, bounded, call_json, iso
from tark_lsp.sessions.page import Page
from tark_lsp.sessions.rows import Holder, SessionRow, StoredMessage
from tark_lsp.workspace.uris import uri_from_path

Json = dict[str, Any]


def session_json(row: SessionRow, *, read_only: bool = False, holder: Holder | None = None) -> Json:
    held = {} if holder is None else {"heldBy": {"pid": holder.pid, "host": holder.host}}
    return {
        "sessionId": row.id,
        "title": row.title,
        "created": iso(row.created),
        "updated": iso(row.updated),
        "folders": [uri_from_path(folder) for folder in row.folders],
        "turns": row.turns,
        "model": row.model,
        "mode": row.mode,
        "approval": row.approval,
        "thinking": row.thinking,
        "agent": row.agent or None,
        "costUsd": row.cost_usd,
        **({} if row.parent is None else {"parent": row.parent}),
        "readOnly": read_only or holder is not None,
        **held,
    }


def messages_json(session_id: str, page: Page, shown: Mapping[str, ShownTurn]) -> list[Json]:
    """`shown`: the turns of the page by id, in their order. Text of a turn that is in no message follows the turn's
    messages, without an id."""
    ends = {stored.turn_id: index for index, stored in enumerate(page.messages)}
    silent = [turn for turn_id, turn in shown.items() if turn_id not in ends]
    places = {turn_id: place for place, turn_id in enumerate(shown)}
    told: list[Json] = []
    for index, stored in enumerate(page.messages):
        place = places.get(stored.turn_id, 0)
        while silent and places[silent[0].id] < place:
            told += silent.pop(0).rest()
        of = shown.get(stored.turn_id)
        if stored.message.role != "tool":
            following = page.messages[index + 1].message if index + 1 < len(page.messages) else None
            told.append(_entry(session_id, stored, of, _results(following)))
        if of is not None and index == ends[stored.turn_id]:
            told += of.rest()
    return [*told, *(entry for turn in silent for entry in turn.rest())]


def _entry(session_id: str, stored: StoredMessage, of: ShownTurn | None, results: Mapping[str, ToolResult]) -> Json:
    entry = _message_json(session_id, stored)
    if of is not None:
        of.add_message(stored, entry)
    if stored.message.tool_calls:
        entry["toolCalls"] = list(_calls_json(stored, of, results))
    return entry


def _calls_json(stored: StoredMessage, of: ShownTurn | None, results: Mapping[str, ToolResult]) -> Iterable[Json]:
    for position, call in enumerate(stored.message.tool_calls):
        call_id = stored.call_ids.get(call.id, f"call-{stored.number}-{position}")
        known = of.calls.get(call_id, {}) if of is not None else {}
        said = {"name": call.name, "arguments": call.arguments, **known}
        yield call_json(call_id, said, results.get(call.id), over=of is None or of.over)


def _results(message: Message | None) -> Mapping[str, ToolResult]:
    parts = () if message is None else message.parts
    return {part.call_id: part for part in parts if isinstance(part, ToolResult)}


def message_id(session_id: str, number: int) -> str:
    return f"{session_id}.{number}"


def message_number(session_id: str, wanted: str) -> int:
    """The number of a message. Raises RequestError if `wanted` cannot be the id of a message of the session."""
    number = wanted.rpartition(".")[2]
    if not (
        number.isascii() and number.isdecimal() and len(number) < 19 and wanted == message_id(session_id, int(number))
    ):
        raise unknown_message(session_id, wanted)
    return int(number)


def unknown_message(session_id: str, wanted: str) -> RequestError:
    return RequestError(f"messageId: there is no message {wanted!r} in {session_id!r}")


def _message_json(session_id: str, stored: StoredMessage) -> Json:
    parts = stored.message.parts
    thinking = "".join(part.text for part in parts if isinstance(part, Thinking))
    images = sum(isinstance(part, Image) for part in parts)
    return {
        "messageId": message_id(session_id, stored.number),
        "turnId": stored.turn_id,
        "role": stored.message.role,
        "text": bounded(stored.message.text),
        **({"thinking": bounded(thinking)} if thinking else {}),
        "time": iso(stored.time),
        **({"images": images} if images else {}),
    }
