"""What docs/protocol.md lists in tables, so that tests compare it with the code."""

import json
from pathlib import Path
from typing import Any, NamedTuple

PROTOCOL = Path(__file__).parents[1] / "docs" / "protocol.md"


class DocumentedSetting(NamedTuple):
    default: Any
    user_only: bool


def documented_settings() -> dict[str, DocumentedSetting]:
    """By their keys, such as `limits.turnUsd`."""
    rows = _rows("| key | default | |")
    return {
        key.strip("`"): DocumentedSetting(_value(default), text.startswith("(user)")) for key, default, text in rows
    }


def documented_blocks() -> dict[str, tuple[str, ...]]:
    """The fields of the updates that are a block each, by their kinds."""
    rows = _rows("| `update.kind` | fields | in a transcript |")
    return {kind.strip("`"): tuple(fields.split(", ")) for kind, fields, made in rows if made == "a block"}


def _rows(head: str) -> list[list[str]]:
    """The cells of the table with this head."""
    _, _, table = PROTOCOL.read_text(encoding="utf-8").partition(f"{head}\n")
    lines = table.partition("\n\n")[0].splitlines()
    return [line.strip("| ").split(" | ") for line in lines[1:]]


def _value(written: str) -> Any:
    """JSON, in which a word in backticks is a string."""
    try:
        return json.loads(written.strip("`"))
    except ValueError:
        return written.strip("`")
