"""Converts a model's function call into the kind that the client declared: function, custom tool or search. Pure."""

import json
import logging
from typing import Any

from tark_lsp.gateway.items import Kind
from tark_lsp.gateway.tools import Tool
from tark_lsp.llm.wire.json_values import read_object

log = logging.getLogger(__name__)


def call_fields(tool: Tool | None, name: str, call_id: str) -> tuple[Kind, dict[str, Any]]:
    """The kind of the item, and its fields except the arguments. An undeclared tool is a function."""
    if tool is None:
        return "function_call", {"call_id": call_id, "name": name}
    if tool.kind == "tool_search_call":
        return "tool_search_call", {"call_id": call_id, "execution": "client", "arguments": {}}
    namespace = {"namespace": tool.namespace} if tool.namespace else {}
    kind: Kind = "custom_tool_call" if tool.kind == "custom_tool_call" else "function_call"
    return kind, {"call_id": call_id, "name": tool.name, **namespace}


def call_text(kind: Kind, arguments: str) -> tuple[str, dict[str, Any]]:
    """The text of the item, and fields that depend on the arguments. Malformed arguments are passed on unchanged."""
    if kind == "tool_search_call":
        value = read_object(arguments)
        return "", {"arguments": arguments if value is None else value}
    if kind == "custom_tool_call":
        text = (read_object(arguments) or {}).get("input")
        return (text if isinstance(text, str) else arguments), {}
    return arguments, {}


def log_malformed(item_id: str, arguments: str) -> None:
    """Log the length and the position of the error, never the content."""
    try:
        json.loads(arguments or "{}")
    except json.JSONDecodeError as error:
        log.warning(
            "%s: %d characters of arguments are not JSON from character %d on", item_id, len(arguments), error.pos
        )
    except RecursionError:
        log.warning("%s: %d characters of arguments are nested too deep", item_id, len(arguments))
