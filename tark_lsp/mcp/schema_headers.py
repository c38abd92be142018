"""Arguments of a tool that are repeated as HTTP headers: `x-mcp-header` in its schema (2026-07-28). Pure."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

KEY = "x-mcp-header"
TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
"""RFC 9110, 5.6.2."""
PLAIN = re.compile(r"(?! )[\x20-\x7e]*(?<! )")
ENCODED = re.compile(r"=\?base64\?.*\?=")
TYPES = frozenset({"string", "integer", "boolean"})
ONE_OR_SEVERAL = frozenset(
    {"items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"}
    | {"not", "if", "then", "else", "contentSchema", "allOf", "anyOf", "oneOf", "prefixItems"}
)
BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Keywords that contain schemas. `$ref` is not one of them, because references are not followed."""

Path = tuple[str, ...]


def header_value(text: str) -> str:
    """The text as the value of a header: encoded if it is not plain ASCII, or has a blank at the start or end."""
    if PLAIN.fullmatch(text) and not ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode('ascii')}?="


def headers_of_schema(schema: Mapping[str, Any]) -> dict[Path, str]:
    """The header name of each property, by the property's path.

    Raises ValueError if the schema breaks the rules. Then the tool must not be used.
    """
    found: dict[Path, str] = {}
    for path, inner in _schemas(schema):
        if KEY not in inner:
            continue
        name = inner[KEY]
        if not path:
            raise ValueError(f"{KEY} is not on a property")
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            raise ValueError(f"{KEY} of {'.'.join(path)} is not the name of a header")
        if not isinstance(inner.get("type"), str) or inner["type"] not in TYPES:
            raise ValueError(f"{KEY} of {'.'.join(path)} is only possible for a string, integer or boolean")
        if name.lower() in (other.lower() for other in found.values()):
            raise ValueError(f"{KEY} {name} occurs twice")
        found[path] = name
    return found


def argument_headers(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers for a call. An argument that is missing or null has none. Raises ValueError for a bad schema."""
    headers = {}
    for path, name in headers_of_schema(schema).items():
        value: Any = arguments
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            headers[f"Mcp-Param-{name}"] = "true" if value else "false"
        elif isinstance(value, str | int | float):
            headers[f"Mcp-Param-{name}"] = header_value(str(value))
    return headers


def _schemas(root: Any) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
    """Every schema in `root`, with its path if that leads only through properties, else with None."""
    waiting: list[tuple[Path | None, Any]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        for key, value in node.items():
            if key in BY_NAME and isinstance(value, dict):
                reachable = key == "properties" and path is not None
                waiting += [((*(path or ()), name) if reachable else None, inner) for name, inner in value.items()]
            elif key in ONE_OR_SEVERAL:
                waiting += [(None, inner) for inner in (value if isinstance(value, list) else [value])]
