"""SystemPart: one named piece of the system prompt, fenced so that whose words it holds cannot be mistaken."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from tark_lsp.context.hidden import printable

PartKind: TypeAlias = Literal["system", "instructions", "rules", "skills", "memory"]
Whose: TypeAlias = Literal["person", "project"]

FENCE = re.compile(r"<(?=\s{0,20}/?\s{0,20}(?:instructions|rules?|skills?|memory|page)\b)", re.IGNORECASE)
"""Where one of our marks begins, or what a model would take for one."""


@dataclass(frozen=True, slots=True)
class SystemPart:
    """`name` is what people call it, `text` how it stands in the prompt, `path` the file it comes from."""

    name: str
    kind: PartKind
    text: str
    path: Path | None = None


def fenced(tag: str, text: str, *, whose: str, **attributes: str) -> str:
    """`text` between marks that name its origin and that it cannot close, or open anew."""
    named = "".join(f' {name}="{_attribute(value)}"' for name, value in {**attributes, "from": whose}.items())
    return f"<{tag}{named}>\n{without_fences(text).strip()}\n</{tag}>"


def without_fences(text: str) -> str:
    """A `<` before one of our own tags is written `<\\`, as `</code>` is in the code snippet format."""
    return FENCE.sub(r"<\\", text)


def _attribute(value: str) -> str:
    """A file's name is whatever a repository makes it."""
    return printable(value.replace('"', "%22").replace("<", "%3C").replace(">", "%3E"))
