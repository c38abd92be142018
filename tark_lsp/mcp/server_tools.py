"""A server's tools, prompts and resources as frozen values. Pure.

All their text is the server's own. For the model, it goes through `told_*`, which shows invisible characters as code
points. For the user, it goes through the functions of `visible.py`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from tark_lsp.mcp.schema_headers import headers_of_schema
from tark_lsp.visible import is_hidden, visible_code

LONGEST_NAME = 128
LONGEST_TOLD = 2_048
"""The most characters of a description for the model."""
LARGEST = 200_000
"""The most characters of JSON of one tool. The limit is low because the user has to read all of it."""
DEEPEST = 50
"""The most levels of a schema."""
WORDS = frozenset({"description", "title", "$comment"})
"""Keywords whose text is only for readers. All other strings of a schema affect calls, so they must not be changed."""


@dataclass(frozen=True)  # without slots, so that `digest` can be cached: each turn needs all digests
class ServerTool:
    """`schema` is the JSON schema of the arguments. `annotations` are unverified claims of the server."""

    name: str
    title: str = ""
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The tool with MCP's names of the fields, for the digest and the stored pin."""
        parts = {"name": self.name, "title": self.title, "description": self.description}
        schemas = {"inputSchema": self.schema, "outputSchema": self.output_schema}
        return {**parts, **schemas, "annotations": self.annotations}

    @cached_property
    def digest(self) -> str:
        """The digest of everything that the user approves: names, descriptions, schemas, annotations."""
        return digest_of(self.as_json())


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """`arguments`: (name, is required), in their order."""

    name: str
    description: str = ""
    arguments: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class ServerResource:
    uri: str
    name: str = ""
    description: str = ""
    mime_type: str = ""


def digest_of(value: Any) -> str:
    """SHA-256 of the canonical JSON."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def read_tool(value: Any) -> ServerTool:
    """Raises ValueError if the tool cannot be used. The text names the tool and says why."""
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str) or not name:
        raise ValueError("a tool has no name")
    shown = visible_code(name[:LONGEST_NAME])
    schema, output = value.get("inputSchema"), value.get("outputSchema")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"the tool {shown}... has a name of more than {LONGEST_NAME} characters")
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise ValueError(f"the tool {shown} has no schema of an object for its arguments")
    if _is_deep([schema, output, value.get("annotations")]):
        raise ValueError(f"the tool {shown} has a schema that is nested too deeply")
    if len(json.dumps(value)) > LARGEST:
        raise ValueError(f"the tool {shown} takes more than {LARGEST:,} characters to describe")
    if _has_hidden(schema):
        raise ValueError(f"the tool {shown} has invisible characters in the names or values of its schema")
    try:
        headers_of_schema(schema)
    except ValueError as error:
        raise ValueError(f"the tool {shown} cannot be used: {error}") from error
    annotations = value.get("annotations")
    return ServerTool(
        name,
        _text(value.get("title")),
        _text(value.get("description")),
        {"type": "object", **schema},
        output if isinstance(output, dict) else None,
        annotations if isinstance(annotations, dict) else {},
    )


def read_tools(values: Iterable[Any]) -> tuple[tuple[ServerTool, ...], tuple[str, ...]]:
    """The tools that can be used, sorted by name, and one sentence for each of the others.

    If two tools have the same name, both are left out, because a call could mean either of them.
    """
    tools, problems = [], []
    for value in values:
        try:
            tools.append(read_tool(value))
        except ValueError as error:
            problems.append(str(error))
    for name, count in Counter(tool.name for tool in tools).items():
        if count > 1:
            problems.append(f"the tool {visible_code(name)} occurs {count} times")
            tools = [tool for tool in tools if tool.name != name]
    return tuple(sorted(tools, key=lambda tool: tool.name)), tuple(problems)


def read_prompts(values: Iterable[Any]) -> tuple[ServerPrompt, ...]:
    found: dict[str, ServerPrompt] = {}
    for value in values:
        if isinstance(value, dict) and isinstance(name := value.get("name"), str) and name:
            given = value.get("arguments")
            named = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
            arguments = tuple((_text(one.get("name")), one.get("required") is True) for one in named if one.get("name"))
            found.setdefault(name, ServerPrompt(name, _text(value.get("description")), arguments))
    return tuple(found[name] for name in sorted(found))


def read_resources(values: Iterable[Any]) -> tuple[ServerResource, ...]:
    found: dict[str, ServerResource] = {}
    for value in values:
        if isinstance(value, dict) and isinstance(uri := value.get("uri"), str) and uri:
            rest = (_text(value.get(key)) for key in ("name", "description", "mimeType"))
            found.setdefault(uri, ServerResource(uri, *rest))
    return tuple(found[uri] for uri in sorted(found))


def told_text(text: str, longest: int = LONGEST_TOLD) -> str:
    """The server's text for the model, with invisible characters as code points, cut to `longest` characters."""
    shown = visible_code(text[:longest])
    return shown if len(shown) <= longest and len(text) <= longest else f"{shown[:longest]} [cut]"


def told_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema for the model, with its descriptions as `told_text` writes them."""
    told: dict[str, Any] = _told(schema, is_schema=True)
    return told


def _told(value: Any, *, is_schema: bool) -> Any:
    """`is_schema`: the keys of `value` are keywords, not names of properties."""
    if isinstance(value, dict):
        return {
            key: told_text(inner)
            if is_schema and key in WORDS and isinstance(inner, str)
            else _told(inner, is_schema=not (is_schema and key == "properties"))
            for key, inner in value.items()
        }
    return [_told(inner, is_schema=is_schema) for inner in value] if isinstance(value, list) else value


def _is_deep(value: Any) -> bool:
    """Whether the value has more than `DEEPEST` levels. It does not recurse, because a deep value would break that."""
    level = [value]
    for _ in range(DEEPEST):
        inner = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list))
        level = [item for items in inner for item in items]
    return bool(level)


def _has_hidden(value: Any, *, is_schema: bool = True) -> bool:
    if isinstance(value, str):
        return any(map(is_hidden, value))
    if isinstance(value, dict):
        return any(
            _has_hidden(key)
            or (
                not (is_schema and key in WORDS and isinstance(inner, str))
                and _has_hidden(inner, is_schema=not (is_schema and key == "properties"))
            )
            for key, inner in value.items()
        )
    items: Sequence[Any] = value if isinstance(value, list) else ()
    return any(_has_hidden(inner, is_schema=is_schema) for inner in items)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
