"""The settings as docs/protocol.md lists them, so that tests compare code and docs."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

PROTOCOL = Path(__file__).parents[1] / "docs" / "protocol.md"


class DocumentedSetting(NamedTuple):
    default: Any
    user_only: bool


def documented_settings() -> dict[str, DocumentedSetting]:
    """By their keys, such as `limits.turnUsd`."""
    _, _, table = PROTOCOL.read_text(encoding="utf-8").partition("| key | default | |\n|---|---|---|\n")
    rows = re.findall(r"\| `([\w.]+)` \| (.+?) \| (.*) \|", table.partition("\n\n")[0])
    return {key: DocumentedSetting(_value(default), text.startswith("(user)")) for key, default, text in rows}


def _value(written: str) -> Any:
    """JSON, in which a word in backticks is a string."""
    try:
        return json.loads(written.strip("`"))
    except ValueError:
        return written.strip("`")
