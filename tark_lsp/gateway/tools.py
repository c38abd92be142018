"""The tools of a request: each kind becomes a function that every model can call, and its calls are converted back.

| type | as a function | a call is returned as |
|---|---|---|
| `function`, flat or nested as in Chat Completions | unchanged | `function_call` |
| `custom` | with one string, `input`; a grammar is in the description | `custom_tool_call` |
| `namespace` | each of its tools, named `namespace__tool` | by its kind, with `namespace` |
| `tool_search` of the client | with its own parameters | `tool_search_call` |
| others | left out: only OpenAI's models have them | never |
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tark_lsp.gateway.problems import invalid
from tark_lsp.gateway.reading import check_depth, field, optional, read, short
from tark_lsp.llm.wire.sendable_history import SAFE_NAME
from tark_lsp.messages import ToolDefinition

MAX_NAME = 128
MAX_TOOLS = 1024
"""Limit for a request, including the tools of namespaces and hosted tools."""
SEARCH = "tool_search"
CUSTOM_INPUT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input of the tool, as plain text."}},
    "required": ["input"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Tool:
    """`kind` is the type of its calls: `function_call`, `custom_tool_call`, `tool_search_call`.

    `name` and `namespace` are those of the client; `definition` has the name that the model gets. `deferred`: hidden
    until the client's search has found it.
    """

    kind: str
    name: str
    namespace: str
    definition: ToolDefinition
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class ToolSet:
    """`tools` by the name that the model gets. `left_out`: the types of hosted tools. `given`: the declarations that
    the response repeats.
    """

    tools: Mapping[str, Tool]
    left_out: tuple[str, ...] = ()
    given: tuple[Mapping[str, Any], ...] = ()

    def find(self, name: str, namespace: str | None = None) -> Tool | None:
        """Find a tool by the client's name. Without `namespace`, a tool outside of all namespaces is preferred."""
        found = [tool for tool in self.tools.values() if tool.name == name and namespace in (None, tool.namespace)]
        return min(found, key=lambda tool: bool(tool.namespace), default=None)

    @property
    def visible(self) -> tuple[ToolDefinition, ...]:
        """The tools that the model gets."""
        searches = any(tool.kind == "tool_search_call" for tool in self.tools.values())
        return tuple(tool.definition for tool in self.tools.values() if not (tool.deferred and searches))


def read_tools(tools: Sequence[Any], where: str, loaded: Sequence[tuple[str, Sequence[Any]]] = ()) -> ToolSet:
    """`loaded`: lists of tools from items of the input, each with its place. These tools are visible at once.

    The last declaration of a tool counts: a search can find a tool that was already declared. Within one list, only
    an identical declaration can be repeated.
    """
    found: dict[str, Tool] = {}
    left_out: list[str] = []
    given: list[Mapping[str, Any]] = []
    for place, several in ((where, tools), *loaded):
        here: dict[str, Tool] = {}
        for index, tool in enumerate(several):
            at = f"{place}[{index}]"
            check_depth(read(tool, dict, at), at)
            kind = field(tool, "type", str, at)
            made = list(READERS[kind](tool, at, "")) if kind in READERS else []
            if not made:
                left_out.append(kind)
            elif place == where:
                given.append(flat(tool))
            if len(found) + len(made) + len(left_out) > MAX_TOOLS:
                raise invalid(f"{at}: there are more than {MAX_TOOLS} tools", at, "array_above_max_length")
            for one in made:
                _check_name(one, found.get(one.definition.name), here.get(one.definition.name), at)
                here[one.definition.name] = one
                found[one.definition.name] = one if place == where else _visible(one)
    return ToolSet(found, tuple(dict.fromkeys(left_out)), tuple(given))


def sent_name(name: str, namespace: str = "") -> str:
    """A name that every provider accepts. If the name is too long or has other characters, a digest is appended."""
    joined = f"{namespace}{'' if namespace.endswith('__') else '__'}{name}" if namespace else name
    if SAFE_NAME.fullmatch(joined):
        return joined
    digest = hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:8]
    cleaned = re.sub(r"[^a-zA-Z0-9_-]", "_", joined if joined[:1].isalpha() else f"_{joined}", flags=re.ASCII)
    return f"{cleaned[:55]}_{digest}"


def _check_name(tool: Tool, other: Tool | None, beside: Tool | None, where: str) -> None:
    """Raises Problem if the model would know two different tools by the same name. `beside`: in the same list."""
    differs = other is not None and (other.kind, other.name, other.namespace) != (tool.kind, tool.name, tool.namespace)
    if differs or beside not in (None, tool):
        message = f"{where}: the model would know it as {short(tool.definition.name)}, like another tool; rename one"
        raise invalid(message, where, "duplicate_tool")


def _visible(tool: Tool) -> Tool:
    return replace(tool, deferred=False)


def flat(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a function in the nested format of Chat Completions into the flat one of the Responses API."""
    nested = tool.get("function")
    return {"type": "function", **nested} if isinstance(nested, dict) else tool


def _name(tool: Mapping[str, Any], where: str) -> str:
    name = str(field(tool, "name", str, where))
    if not 0 < len(name) <= MAX_NAME:
        raise invalid(f"{where}.name must have 1 to {MAX_NAME} characters", f"{where}.name")
    return name


def _function(tool: Mapping[str, Any], where: str, namespace: str) -> Iterator[Tool]:
    if isinstance(tool.get("function"), dict):
        tool, where = tool["function"], f"{where}.function"
    name = _name(tool, where)
    description = optional(tool, "description", str, where, "")
    parameters = optional(tool, "parameters", dict, where, {})
    strict = optional(tool, "strict", bool, where, False)
    definition = ToolDefinition(sent_name(name, namespace), description, parameters, strict=strict)
    yield Tool("function_call", name, namespace, definition, tool.get("defer_loading") is True)


def _custom(tool: Mapping[str, Any], where: str, namespace: str) -> Iterator[Tool]:
    name = _name(tool, where)
    description = optional(tool, "description", str, where, "")
    format_ = optional(tool, "format", dict, where, {})
    if format_.get("type") == "grammar":
        grammar = field(format_, "definition", str, f"{where}.format")
        syntax = optional(format_, "syntax", str, f"{where}.format", "")
        description = f"{description}\n\nThe input must match this {syntax} grammar:\n{grammar}".strip()
    definition = ToolDefinition(sent_name(name, namespace), description, CUSTOM_INPUT)
    yield Tool("custom_tool_call", name, namespace, definition, tool.get("defer_loading") is True)


def _namespace(tool: Mapping[str, Any], where: str, _: str) -> Iterator[Tool]:
    name = _name(tool, where)
    for index, inner in enumerate(field(tool, "tools", list, where)):
        at = f"{where}.tools[{index}]"
        kind = field(read(inner, dict, at), "type", str, at)
        if kind not in ("function", "custom"):
            raise invalid(f"{at}.type is {short(kind)}, but a namespace holds function and custom tools", f"{at}.type")
        yield from READERS[kind](inner, at, name)


def _search(tool: Mapping[str, Any], where: str, _: str) -> Iterator[Tool]:
    """The client's search. A search by OpenAI's server is left out; then no tool is deferred."""
    if tool.get("execution") == "client":
        description = optional(tool, "description", str, where, "")
        parameters = optional(tool, "parameters", dict, where, {})
        yield Tool("tool_search_call", SEARCH, "", ToolDefinition(SEARCH, description, parameters))


READERS: Mapping[str, Callable[[Mapping[str, Any], str, str], Iterator[Tool]]] = {
    "function": _function,
    "custom": _custom,
    "namespace": _namespace,
    SEARCH: _search,
}
