"""The kinds of turn: which prompt a turn starts with and which tools it may use (protocol.md, "kinds").

A named prompt (context/prompts.py) is a kind, too: the tools of the built-in one it is based on, and words of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from tark_lsp.context.prompts import NamedPrompt
from tark_lsp.messages import Mode
from tark_lsp.tools.tool import Risk, Tool

SLASH = re.compile(r"\s*/([A-Za-z0-9][\w-]*)(?=\s|$)")
"""`/name` at the beginning of a prompt; `/etc/hosts` is none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`writes`: may change something. `fenced`: nothing but the selection can change. `needs_prompt`, `needs_range`:
    what the request must have. The prompt is the file `prompts/NAME.md`; `named` is what a named prompt adds to it."""

    name: str
    writes: bool = True
    fenced: bool = False
    needs_prompt: bool = False
    needs_range: bool = False
    named: NamedPrompt | None = None

    @property
    def instructions(self) -> str:
        return read_prompt(self.name if self.named is None else self.named.kind)

    def words(self, typed: str) -> str:
        """What the person says by what they typed: without the `/name` it begins with, and as a named prompt has it."""
        found = SLASH.match(typed)
        said = typed[found.end() :].strip() if found and found[1].lower() == self.name else typed
        return said if self.named is None else self.named.filled(said)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("agent", needs_prompt=True),
        Kind("ask", writes=False, needs_prompt=True),
        Kind("explain", writes=False),
        Kind("edit", fenced=True, needs_prompt=True, needs_range=True),
        Kind("fix"),
        Kind("test"),
        Kind("document"),
    )
}


def kind_of(prompt: NamedPrompt) -> Kind:
    """A named prompt as a kind."""
    built_in = KINDS[prompt.kind]
    needs_range = built_in.needs_range or prompt.needs_selection
    return replace(built_in, name=prompt.name, needs_prompt=False, needs_range=needs_range, named=prompt)


def called_by(typed: str) -> str | None:
    """The name in `/name ...`, in lower case; None: these are just words."""
    found = SLASH.match(typed)
    return None if found is None else found[1].lower()


FENCED_TOOLS = frozenset({"replace_selection", "edit_file", "propose_edit"})
"""The tools that change text under a fence; whatever they propose outside the selection is refused."""

NOT_IN_ANSWERS = frozenset({"propose_edit", "switch_mode"})
"""Read-only by risk, but out of place where the kind is to answer in words."""


def offered_tools(tools: Mapping[str, Tool[Any]], kind: Kind, mode: Mode, *, selection: bool) -> dict[str, Tool[Any]]:
    """The tools the model is told of, in a stable order (a stable prefix is a cached prefix)."""
    return {name: tools[name] for name in sorted(tools) if _offered(tools[name], kind, mode, selection)}


def _offered(tool: Tool[Any], kind: Kind, mode: Mode, selection: bool) -> bool:
    if tool.name == "replace_selection" and not selection:
        return False
    if not kind.writes:
        return tool.risk is Risk.READ_ONLY and tool.name not in NOT_IN_ANSWERS
    if mode is not Mode.BUILD and tool.risk > Risk.READ_ONLY:
        return False
    if mode is Mode.BUILD and tool.name == "propose_edit":
        return False
    if kind.fenced:
        return tool.name in FENCED_TOOLS or (tool.risk is Risk.READ_ONLY and tool.name != "switch_mode")
    return True


def read_prompt(name: str) -> str:
    return (files("tark_lsp.agent") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
