"""Parses the raw JSON text of a call into the validated arguments of its tool. Pure.

Two common errors of models are repaired, because their meaning is clear: control characters inside strings, and
trailing commas. JSON that was cut off is not repaired, because that would run half a call.
"""

import json
import re
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from tark_lsp.errors import ToolError
from tark_lsp.tools.tool import Arguments, Tool

A = TypeVar("A", bound=Arguments)

KEPT_OR_TRAILING_COMMA = re.compile(r"""("(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{,:]\s*,)|,(?=\s*[}\]])""", re.DOTALL)
"""The group keeps strings, and commas that follow no value. An unclosed string matches to the end of the text.
Otherwise, every quote in it would be tried as the start of a string, which took minutes for a long text."""


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; empty text is `{}`. Raises ToolError `invalid_arguments`."""
    if not text.strip():
        return {}
    for candidate in (text, KEPT_OR_TRAILING_COMMA.sub(lambda found: found[1] or "", text)):
        try:
            value = json.loads(candidate, strict=False, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            reason = str(error) or "nested too deeply"
            continue
        if not isinstance(value, dict):
            raise ToolError("invalid_arguments", "the arguments are not a JSON object", hint="send one JSON object")
        if _has_lone_surrogate(text, value):
            raise ToolError("invalid_arguments", "the arguments contain a lone surrogate", hint="send valid Unicode")
        return value
    raise ToolError("invalid_arguments", f"the arguments are not valid JSON: {reason}", hint="send the call again")


def parse_arguments(tool: Tool[A], text: str) -> A:
    """Raises ToolError `invalid_arguments`, which names every wrong field."""
    try:
        return tool.arguments.model_validate(parse_object(text))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}" for item in error.errors()
        )
        fields = ", ".join(tool.arguments.model_fields)
        raise ToolError(
            "invalid_arguments", f"{tool.name}: {wrong}", hint=f"the arguments are: {fields or 'none'}"
        ) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _has_lone_surrogate(text: str, value: dict[str, Any]) -> bool:
    try:
        text.encode("utf-8")
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
