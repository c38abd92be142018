"""Completion at the start of a message: `/name`, `/agent NAME`, and `/SERVER:PROMPT` of MCP servers that run."""

import re
from typing import Any

from tark_lsp.agent.kinds import kind_of_prompt
from tark_lsp.context.agents import NO_AGENT
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.server.turns.mcp_listing import McpListing
from tark_lsp.visible import visible
from tark_lsp.workspace.positions import to_client

SLASH_TYPED = re.compile(r"\s*(?P<word>/[\w:-]*)")
AGENT_TYPED = re.compile(r"\s*/agent\s+(?P<word>[\w-]*)", re.IGNORECASE)
BUILT_IN = {
    "explain": "explain what you point at",
    "fix": "repair what you point at",
    "test": "write tests",
    "document": "write documentation",
    "ask": "an answer in words, nothing changed",
    "init": "read the repository, propose AGENTS.md",
    "review": "review your changes, or the branch",
}
"""The built-in kinds of turns that work without a selection."""
LONGEST_TYPED = 300
"""How many characters before the cursor are considered."""
LONGEST_ABOUT = 200
KEYWORD = 14


class SlashCompletion:
    def __init__(self, prompts: NamedPrompts, listing: McpListing) -> None:
        self._prompts = prompts
        self._listing = listing

    async def complete(self, line: str, number: int, column: int, encoding: str) -> dict[str, Any] | None:
        """A `CompletionList` for the cursor at code point `column` of line `number`. None if nothing is typed."""
        end = min(column, LONGEST_TYPED)
        agent = AGENT_TYPED.fullmatch(line, 0, end)
        typed = agent or SLASH_TYPED.fullmatch(line, 0, end)
        if typed is None:
            return None
        start = to_client(line, typed.start("word"), encoding)
        span = range_json(number, start, number, to_client(line, column, encoding))
        words = self._agents() if agent else {**self._names(), **await self._mcp_prompts()}
        return {"isIncomplete": False, "items": [word_item(word, about, span) for word, about in words.items()]}

    def _agents(self) -> dict[str, str]:
        agents = self._prompts.agents.usable().values()
        told = {
            agent.name: ("the project's: " if agent.is_offer else "") + visible(agent.description) for agent in agents
        }
        return {**told, NO_AGENT: "without the agent of the session"}

    def _names(self) -> dict[str, str]:
        calls = {f"/{name}": about for name, about in BUILT_IN.items()}
        if self._prompts.agents.usable():
            calls["/agent"] = "a custom agent: /agent NAME, then what it should do"
        for prompt in self._prompts.load_all().values():
            if not kind_of_prompt(prompt).needs_range:  # there is no selection in a chat
                whose = "the project's: " if prompt.source.whose == "project" else ""
                calls[f"/{prompt.name}"] = f"{whose}{visible(prompt.description or prompt.title)}"
        return calls

    async def _mcp_prompts(self) -> dict[str, str]:
        found = await self._listing.words("prompts")
        return {f"/{word}": f"of an MCP server: {visible(about[:LONGEST_ABOUT])}" for word, about in found}


def word_item(text: str, about: str, span: dict[str, Any]) -> dict[str, Any]:
    edit = {"range": span, "newText": text}
    return {"label": visible(text), "kind": KEYWORD, "detail": about, "filterText": text, "textEdit": edit}
