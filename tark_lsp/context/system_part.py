"""SystemPart: one named part of the system prompt, between tags that name its origin."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.context.hidden import printable_name

PartKind: TypeAlias = Literal["system", "instructions", "rules", "skills", "memory"]
Whose: TypeAlias = Literal["person", "project"]

FENCE = re.compile(
    r"<(?=\s{0,20}/?\s{0,20}(?:instructions|rules?|skills?|memory|page|mcp|hook|diff|subjects)\b)", re.IGNORECASE
)
"""The start of one of Tark's tags, or of text that a model would take for one."""


@dataclass(frozen=True, slots=True)
class SystemPart:
    """`name` is for the user, `text` goes into the prompt, and `path` is the file that it comes from."""

    name: str
    kind: PartKind
    text: str
    path: Path | None = None


def tagged(tag: str, text: str, *, whose: str, **attributes: str) -> str:
    """`text` between tags that name its origin. The text cannot close these tags or open others."""
    named = "".join(f' {name}="{_attribute(value)}"' for name, value in {**attributes, "from": whose}.items())
    return f"<{tag}{named}>\n{escape_tags(text).strip()}\n</{tag}>"


def escape_tags(text: str) -> str:
    """The text with `<\\` in place of `<` before Tark's tags, as for `</code>` in the code snippet format."""
    return FENCE.sub(r"<\\", text)


def _attribute(value: str) -> str:
    """The value, escaped, because a repository can give a file any name."""
    return printable_name(value.replace('"', "%22").replace("<", "%3C").replace(">", "%3E"))
