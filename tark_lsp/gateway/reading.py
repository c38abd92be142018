"""Reads values of a request. `where` is the place of a value, for the error. All functions raise Problem."""

from collections.abc import Collection, Mapping
from typing import Any

from tark_lsp.gateway.problems import Problem, invalid
from tark_lsp.llm.catalog.listed_names import near_names

KINDS: Mapping[type, str] = {
    str: "a string",
    dict: "an object",
    list: "an array",
    bool: "true or false",
    int: "an integer",
}

MAX_DEPTH = 100
"""The deepest nesting of a schema or of metadata."""


def read(value: Any, kind: type, where: str) -> Any:
    """Return `value` if it is of type `kind`."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise invalid(f"{where} must be {KINDS[kind]}", where, "invalid_type")
    return value


def read_list_or_text(value: Any, where: str) -> Any:
    """Return `value` if it is a string or an array."""
    if not isinstance(value, str | list):
        raise invalid(f"{where} must be a string or an array", where, "invalid_type")
    return value


def field(item: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    """A required field."""
    if name not in item:
        raise invalid(f"{where}.{name} is missing", f"{where}.{name}", "missing_required_parameter")
    return read(item[name], kind, f"{where}.{name}")


def optional(item: Mapping[str, Any], name: str, kind: type, where: str, default: Any = None) -> Any:
    """A field that can be missing or null."""
    value = item.get(name)
    place = f"{where}.{name}" if where else name
    return default if value is None else read(value, kind, place)


def number(item: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    value = item.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(f"{name} must be a number", name, "invalid_type")
    if not low <= value <= high:
        raise invalid(f"{name} must be from {low:g} to {high:g}", name)
    return value


def word(value: Any, known: Collection[str], where: str) -> str:
    """One of the `known` values. The error suggests similar ones."""
    text = str(read(value, str, where))
    if text not in known:
        near = near_names(text, known)
        meant = f"did you mean {' or '.join(near)}?" if near else f"use one of {', '.join(sorted(known))}"
        raise invalid(f"{where} is {short(text)}, which is unknown; {meant}", where)
    return text


def short(text: str) -> str:
    """Text of a client for an error message: printable ASCII, quoted, truncated."""
    return ascii(text if len(text) <= 64 else f"{text[:61]}...")


def check_depth(value: Any, where: str) -> None:
    """Refuse a value that is nested too deep to be encoded for a provider."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise Problem(400, "invalid_request_error", "too_deep", f"{where} is nested deeper than {MAX_DEPTH} levels", where)
