"""The kinds of turn: which prompt a turn starts with and which tools it may use (protocol.md, "kinds")."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tark_lsp.messages import Mode
from tark_lsp.tools.tool import Risk, Tool


@dataclass(frozen=True, slots=True)
class Kind:
    """`writes`: may change something. `fenced`: nothing but the selection can change. `needs_prompt`, `needs_range`:
    what the request must have. The prompt is the file `prompts/NAME.md`."""

    name: str
    writes: bool = True
    fenced: bool = False
    needs_prompt: bool = False
    needs_range: bool = False

    @property
    def instructions(self) -> str:
        return read_prompt(self.name)


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
