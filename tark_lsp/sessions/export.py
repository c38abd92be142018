"""Exports a session as JSON, and reads such a file for an import; pure.

`{format, version, title, created, updated, folders, model, messages, turns: [{..., updates}]}`. It contains neither the
cost nor which messages were sent shortened or as a summary, so an imported session begins with all messages. Parts that
only a provider can read (signatures, encrypted thinking) are exported but not imported, because they cannot be checked.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.agent.events import CallStatus
from tark_lsp.errors import RequestError
from tark_lsp.messages import StopReason
from tark_lsp.sessions.message_json import message_json, message_of, without_echoes
from tark_lsp.sessions.rows import COPY_OF, SessionRow, StoredMessage, TurnRow

FORMAT = "tark-lsp session"
VERSION = 1
Updates = Sequence[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Exported:
    """`updates`: the updates by turn. The ids are the ids of the exported session."""

    title: str
    created: float
    messages: tuple[StoredMessage, ...]
    turns: tuple[TurnRow, ...]
    updates: Mapping[str, Updates]


def to_json(
    row: SessionRow, messages: Sequence[StoredMessage], turns: Sequence[TurnRow], updates: Callable[[str], Updates]
) -> str:
    """ASCII, with one line for each message and turn, so that a diff is useful. `updates` returns a turn's updates."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "title": row.title,
        "created": row.created,
        "updated": row.updated,
        "folders": [str(folder) for folder in row.folders],
        "model": row.model,
    }
    lines = ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in head.items())
    said = ",\n".join(json.dumps(_message_json(stored)) for stored in messages)
    done = ",\n".join(json.dumps(_turn_json(turn, updates(turn.id))) for turn in turns)
    return f'{{{lines},\n"messages": [\n{said}\n],\n"turns": [\n{done}\n]}}\n'


def from_json(text: str) -> Exported:
    """Raises RequestError, which says what is wrong, for a text that `to_json` did not write or that is newer."""
    try:
        value = json.loads(text, parse_constant=_not_json, parse_float=_float)
    except (ValueError, RecursionError) as error:
        raise _refused(f"it is not JSON, or is damaged ({error})") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise _refused("it is not an exported session")
    version = value.get("version")
    if not isinstance(version, int) or version < 1:
        raise _refused("it does not say its version")
    if version > VERSION:
        raise RequestError(
            f"import: the file was written by a newer tark-lsp (version {version} of the format, this one reads"
            f" {VERSION})",
            hint="update tark-lsp",
        )
    try:
        turns = tuple(_turn(turn) for turn in _list(value["turns"]))
        updates = {turn["id"]: _updates(turn["updates"]) for turn in value["turns"]}
        if len(updates) != len(turns):
            raise ValueError("two turns have the same id")
        messages = tuple(_message(message) for message in _list(value["messages"]))
        return Exported(_text(value["title"]), _time(value["created"]), messages, turns, updates)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _refused(f"it is damaged ({type(error).__name__}: {error})") from error


def _message_json(stored: StoredMessage) -> dict[str, Any]:
    ids = {"turn": stored.turn_id, "time": stored.time, "callIds": dict(stored.call_ids), "seq": stored.seq}
    return {"number": stored.number, **ids, **message_json(stored.message)}


def _turn_json(turn: TurnRow, updates: Updates) -> dict[str, Any]:
    return {
        "id": turn.id,
        "prompt": turn.prompt,
        "kind": turn.kind,
        "model": turn.model,
        "began": turn.began,
        "ended": turn.ended,
        "end": turn.end,
        "request": dict(turn.request),
        "updates": [[seq, dict(update)] for seq, update in updates],
    }


def _message(value: Any) -> StoredMessage:
    call_ids = {_text(theirs): _text(ours) for theirs, ours in _object(value["callIds"]).items()}
    numbers = _whole(value["number"]), _whole(value["seq"])
    return StoredMessage(
        numbers[0],
        _text(value["turn"]),
        _time(value["time"]),
        without_echoes(message_of(value)),
        call_ids,
        numbers[1],
    )


def _turn(value: Any) -> TurnRow:
    return TurnRow(
        _text(value["id"]),
        "",
        _text(value["prompt"]),
        _name(value["kind"]),
        None if value["model"] is None else _name(value["model"]),
        _time(value["began"]),
        None if value["ended"] is None else _time(value["ended"]),
        None if value["end"] is None else _shaped("end", _object(value["end"])),
        {name: given for name, given in _object(value["request"]).items() if name != COPY_OF},
    )


def _updates(pairs: Any) -> Updates:
    updates = tuple((_whole(seq), _update(_object(update))) for seq, update in _list(pairs))
    if len({seq for seq, _ in updates}) != len(updates):
        raise ValueError("two updates have the same number")
    return updates


def _update(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return _shaped(_name(value.get("kind", "")), value)


def _shaped(kind: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the update if the fields that this program reads have the right types. Raises ValueError, TypeError."""
    needed, shapes = SHAPES.get(kind, ((), {}))
    for name in needed:
        value[name]
    for name, shape in shapes.items():
        if value.get(name) is not None:
            shape(value[name])
    return value


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [_object(item) for item in _list(value)]


def _pieces(value: Any) -> None:
    """Checks the content of a tool call."""
    for piece in _objects(value):
        if _text(piece["type"]) == "text":
            _text(piece["text"])


def _error(value: Any) -> None:
    for name in ("code", "message", "hint"):
        if _object(value).get(name) is not None:
            _text(value[name])


def _name(value: Any) -> str:
    """A text that is stored unchanged. Raises ValueError for lone surrogates."""
    _text(value).encode("utf-8")
    return _text(value)


def _not_json(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _float(digits: str) -> float:
    return _time(float(digits))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} instead of a text")
    return value


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.40} instead of an object")
    return value


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.40} instead of a list")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise ValueError(f"{value!r:.40} instead of a count")
    return value


def _time(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r:.40} instead of a time")
    return float(value)


def _refused(why: str) -> RequestError:
    return RequestError(f"import: the file cannot be imported: {why}", hint="export the session again")


Shape = Callable[[Any], object]
SHAPES: Mapping[str, tuple[Sequence[str], Mapping[str, Shape]]] = {
    "text": (("delta",), {"delta": _text}),
    "thinking": (("delta",), {"delta": _text}),
    "toolCall": (
        ("toolCallId",),
        {
            "toolCallId": _name,
            "status": CallStatus,
            "name": _text,
            "title": _text,
            "toolKind": _text,
            "arguments": _text,
            "content": _pieces,
            "locations": _objects,
        },
    ),
    "plan": ((), {"entries": _objects}),
    "notice": ((), {"message": _text}),
    "end": (
        (),
        {
            "stopReason": StopReason,
            "text": _text,
            "error": _error,
            "usage": _object,
            "edits": _objects,
            "changedByCommand": _list,
        },
    ),
}
"""For each kind of update: the required fields, and a check for each field (it raises if the value is wrong)."""
