"""A session as JSON that can be taken in again, without loss. Pure.

`{format, version, title, created, updated, folders, model, messages, turns: [{..., updates}]}`. What it cost is not in
it, nor what of the messages was told shortened or as a summary: whoever takes it in begins with all of them.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.sessions.message_json import message_json, message_of
from tark_lsp.sessions.rows import SessionRow, StoredMessage, TurnRow

FORMAT = "tark-lsp session"
VERSION = 1
Updates = Sequence[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Exported:
    """`updates`: by turn. Ids are those of the session that it came from."""

    title: str
    created: float
    messages: tuple[StoredMessage, ...]
    turns: tuple[TurnRow, ...]
    updates: Mapping[str, Updates]


def to_json(
    row: SessionRow, messages: Sequence[StoredMessage], turns: Sequence[TurnRow], updates: Callable[[str], Updates]
) -> str:
    """ASCII, one line for each message and turn, so that it can be compared; `updates` is the store's."""
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
    told = ",\n".join(json.dumps(_message_json(each)) for each in messages)
    done = ",\n".join(json.dumps(_turn_json(turn, updates(turn.id))) for turn in turns)
    return f'{{{lines},\n"messages": [\n{told}\n],\n"turns": [\n{done}\n]}}\n'


def from_json(text: str) -> Exported:
    """Raises RequestError for what `to_json` did not make, or that of a newer tark-lsp, naming what is wrong."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(f"it is no JSON, or damaged ({error})") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise _refused("it is no exported session")
    version = value.get("version")
    if not isinstance(version, int) or version < 1:
        raise _refused("it does not say its version")
    if version > VERSION:
        raise RequestError(
            f"import: the file was written by a newer tark-lsp (version {version} of the format, this one knows"
            f" {VERSION})",
            hint="update tark-lsp",
        )
    try:
        turns = tuple(_turn(each) for each in _list(value["turns"]))
        updates = {each["id"]: _updates(each["updates"]) for each in value["turns"]}
        if len(updates) != len(turns):
            raise ValueError("two turns with one id")
        messages = tuple(_message(each) for each in _list(value["messages"]))
        return Exported(_text(value["title"]), _time(value["created"]), messages, turns, updates)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _refused(f"it is damaged ({type(error).__name__}: {error})") from error


def _message_json(each: StoredMessage) -> dict[str, Any]:
    ids = {"turn": each.turn_id, "time": each.time, "callIds": dict(each.call_ids), "seq": each.seq}
    return {"number": each.number, **ids, **message_json(each.message)}


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
        numbers[0], _text(value["turn"]), _time(value["time"]), message_of(value), call_ids, numbers[1]
    )


def _turn(value: Any) -> TurnRow:
    return TurnRow(
        _text(value["id"]),
        "",
        _text(value["prompt"]),
        _text(value["kind"]),
        None if value["model"] is None else _text(value["model"]),
        _time(value["began"]),
        None if value["ended"] is None else _time(value["ended"]),
        None if value["end"] is None else _object(value["end"]),
        _object(value["request"]),
    )


def _updates(pairs: Any) -> Updates:
    updates = tuple((_whole(seq), _object(update)) for seq, update in _list(pairs))
    if len({seq for seq, _ in updates}) != len(updates):
        raise ValueError("two updates with one number")
    return updates


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where a text belongs")
    return value


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.40} where an object belongs")
    return value


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.40} where a list belongs")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise ValueError(f"{value!r:.40} where a count belongs")
    return value


def _time(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r:.40} where a time belongs")
    return float(value)


def _refused(why: str) -> RequestError:
    return RequestError(f"import: the file cannot be taken in: {why}", hint="export the session anew")
