"""`ChatRequest`: what a wire encodes, for every provider."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tark_lsp.llm.options import NO_OPTIONS, ChatOptions
from tark_lsp.messages import Message, ToolDefinition

LARGE_PARTS = 400
"""Parts of messages, and tools. Encoding one takes about 10 microseconds."""

NO_PARAMETERS: Mapping[str, Any] = MappingProxyType({"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model.

    `messages` alternate as the agent keeps them. The wires repair what a provider would refuse (a call without its
    result, an id in a foreign alphabet), though after agent/history.py this should not be needed.
    `max_output_tokens` None: the provider's own limit, or the catalog's if the wire requires a number.
    `thinking`: auto (the model's own default), off, or an effort: minimal, low, medium, high, xhigh, max.
    `options`: which tools must be called, the format of the answer, how it is sampled.
    `session_id` groups the requests of one session, for providers that use it to route to a cache.
    `starts_turn`: the first request of a turn. It is sent even to a model that rests after failures.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    max_output_tokens: int | None = None
    thinking: str = "auto"
    options: ChatOptions = NO_OPTIONS
    session_id: str = ""
    starts_turn: bool = False

    @property
    def is_large(self) -> bool:
        """Whether it takes more than a few milliseconds to encode. What counts are the parts, not their length."""
        return len(self.tools) + sum(len(message.parts) for message in self.messages) > LARGE_PARTS

    @property
    def declared_tools(self) -> list[ToolDefinition]:
        """The tools in a fixed order, since providers cache by prefix. Each has a schema, as providers require.

        Without the deferred ones, which most wires do not know.
        """
        return _in_order(tool for tool in self.tools if tool.loading != "deferred")

    @property
    def loadable_tools(self) -> list[ToolDefinition]:
        """The same for a wire that can defer: the deferred ones are last, and nothing has to call them by name."""
        tools = _in_order(tool for tool in self.tools if tool.loading != "call")
        return sorted(tools, key=lambda tool: tool.loading == "deferred")


def _in_order(tools: Iterable[ToolDefinition]) -> list[ToolDefinition]:
    ordered = sorted(tools, key=lambda tool: tool.name)
    return [tool if tool.parameters else replace(tool, parameters=NO_PARAMETERS) for tool in ordered]
