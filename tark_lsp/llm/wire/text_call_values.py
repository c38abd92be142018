"""The values in a tool call written as text: lenient JSON, and values converted by a schema."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.llm.wire.json_values import is_too_deep


def _finite(number: str) -> float:
    if not math.isfinite(value := float(number)):
        raise ValueError(f"{number} is not JSON")  # it is JSON, but it could not be encoded again
    return value


DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_finite)
"""Accepts control characters in strings (mostly raw line ends), but nothing else, not even NaN."""

TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\\?\Z))|,(?=\s*[}\]])', re.DOTALL)
ANY_SPACE = re.compile(r"\s*")
WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


def skip_spaces(spaces: re.Pattern[str], text: str, place: int) -> int:
    """The place after the white space at `place`, if there is any."""
    found = spaces.match(text, place)
    return found.end() if found else place


def json_values(text: str) -> list[Any] | None:
    """All JSON values in a row. If there is one array, its values. None: the text is not JSON."""
    text = TRAILING_COMMA.sub(lambda found: found[1] or "", text)
    values: list[Any] = []
    place = skip_spaces(ANY_SPACE, text, 0)
    while place < len(text):
        try:
            value, place = DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        if is_too_deep(value):
            return None
        values.append(value)
        place = skip_spaces(ANY_SPACE, text, place)
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def value_for_schema(text: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Converts `text` to the type of the property's `schema`, or returns it unchanged. `root` holds the `$defs`."""
    types = set(_types(schema, root, set()))
    bare = text.strip()
    if bare in WORDS:
        value: Any = WORDS[bare]
        wanted = "null" if value is None else "boolean"
        return value if wanted in types else text
    if types - {"null"} == {"string"}:
        return text
    if not types and bare[:1] not in ("{", "["):
        return text
    try:
        value = DECODER.decode(bare)
    except (ValueError, RecursionError):
        return text
    if is_too_deep(value):
        return text
    if "string" in types and not isinstance(value, dict | list):
        return text  # both types are allowed, so the text is kept
    return value if not types or _type(value) & types else text


def _types(schema: object, root: Mapping[str, Any], seen: set[str]) -> Sequence[str]:
    """The JSON Schema types that a value can have; empty if the schema does not say. `seen`: references followed."""
    if not isinstance(schema, Mapping):
        return ()
    if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/"):
        if reference in seen:
            return ()
        seen.add(reference)
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, Mapping) else None
        return _types(target, root, seen)
    match schema:
        case {"type": str(name)}:
            return [name]
        case {"type": list(names)}:
            return [name for name in names if isinstance(name, str)]
        case {"enum": list(values)}:
            return [name for value in values for name in _type(value)]
        case {"const": value}:
            return list(_type(value))
    inner = [option for name in ("anyOf", "oneOf", "allOf") for option in schema.get(name) or ()]
    return [name for option in inner for name in _types(option, root, seen)]


def _type(value: object) -> set[str]:
    match value:
        case None:
            return {"null"}
        case bool():
            return {"boolean"}
        case int():
            return {"integer", "number"}
        case float():
            return {"number", "integer"} if value.is_integer() else {"number"}
        case str():
            return {"string"}
        case dict():
            return {"object"}
    return {"array"}
