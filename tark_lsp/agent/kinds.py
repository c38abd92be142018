"""The kinds of turn: the prompt a turn starts with and the tools it can use (protocol.md, "Kinds").

A named prompt (context/prompts.py) is also a kind. It has the tools of a built-in kind, and its own text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tark_lsp.context.agents import Agent
from tark_lsp.context.prompts import NamedPrompt
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools.facts import ToolFacts, TurnScope
from tark_lsp.tools.tool import Tool

SLASH_NAME = re.compile(r"\s*/([A-Za-z0-9][\w-]*)(?=\s|$)")
"""`/name` at the beginning of a prompt, but not `/etc/hosts`."""
AGENT_NAME = re.compile(r"\s*/agent\s+([A-Za-z0-9][\w-]*)(?=\s|$)", re.IGNORECASE)
"""`/agent NAME` at the beginning of a prompt."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`scope` is what the turn can change. `needs_prompt`, `needs_range`: the request must contain a prompt or a range.

    The instructions are in the file `prompts/NAME.md`. `named` is the named prompt, if the kind is one. `agent`: the
    custom agent of the turn. `no_agent`: the prompt says `/agent none`.
    """

    name: str
    scope: TurnScope = TurnScope.WORKSPACE
    needs_prompt: bool = False
    needs_range: bool = False
    named: NamedPrompt | None = None
    agent: Agent | None = None
    no_agent: bool = False

    @property
    def selection_only(self) -> bool:
        """Whether only the selection can change."""
        return self.scope is TurnScope.SELECTION

    @property
    def base(self) -> str:
        """The built-in kind whose tools and instructions this kind has."""
        return self.name if self.named is None else self.named.kind

    @property
    def instructions(self) -> str:
        return read_prompt(self.base)

    def prompt_text(self, typed: str) -> str:
        """The user's text for the model: `typed` without a leading `/name`, filled into the named prompt, if any."""
        if (self.agent is not None or self.no_agent) and (called := AGENT_NAME.match(typed)) is not None:
            return typed[called.end() :].strip()
        found = SLASH_NAME.match(typed)
        said = typed[found.end() :].strip() if found and found[1].lower() == self.name else typed
        return said if self.named is None else self.named.fill(said)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("agent", needs_prompt=True),
        Kind("ask", scope=TurnScope.ANSWER, needs_prompt=True),
        Kind("explain", scope=TurnScope.ANSWER),
        Kind("edit", scope=TurnScope.SELECTION, needs_prompt=True, needs_range=True),
        Kind("fix"),
        Kind("test"),
        Kind("document"),
        Kind("init"),
        Kind("review"),
    )
}


def kind_of_prompt(prompt: NamedPrompt) -> Kind:
    """A named prompt as a kind."""
    built_in = KINDS[prompt.kind]
    needs_range = built_in.needs_range or prompt.needs_selection
    return replace(built_in, name=prompt.name, needs_prompt=False, needs_range=needs_range, named=prompt)


def slash_name(typed: str) -> str | None:
    """The name in `/name ...`, in lower case; None if the text does not begin with one."""
    found = SLASH_NAME.match(typed)
    return None if found is None else found[1].lower()


def agent_name(typed: str) -> str | None:
    """The name in `/agent NAME ...`, in lower case."""
    found = AGENT_NAME.match(typed)
    return None if found is None else found[1].lower()


def mode_of(kind: Kind, mode: Mode) -> Mode:
    """The mode of a turn of this kind, in a session of this mode."""
    return mode if kind.agent is None else kind.agent.stricter_mode(mode)


def level_of(kind: Kind, level: ApprovalLevel) -> ApprovalLevel:
    """The approval level of a turn of this kind, in a session of this level."""
    return level if kind.agent is None else kind.agent.stricter_level(level)


def offered_tools(tools: Mapping[str, Tool[Any]], kind: Kind, mode: Mode, *, selection: bool) -> dict[str, Tool[Any]]:
    """The tools for the model, by name. Their order is stable, because providers cache a prompt by its prefix."""
    mode = mode_of(kind, mode)
    return {name: tools[name] for name in sorted(tools) if _is_offered(name, tools[name].facts, kind, mode, selection)}


def _is_offered(name: str, facts: ToolFacts, kind: Kind, mode: Mode, selection: bool) -> bool:
    if facts.kind not in ("", kind.base) or (kind.agent is not None and not kind.agent.has_tool(name)):
        return False
    return kind.scope in facts.scopes and mode in facts.modes and (selection or not facts.needs_selection)


def read_prompt(name: str) -> str:
    from importlib.resources import files  # takes a megabyte of memory, and only a turn needs it

    return (files("tark_lsp.agent") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
