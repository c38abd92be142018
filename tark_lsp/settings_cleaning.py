"""Checks one layer of settings: removes nulls and invalid values, with one sentence for each problem."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

MAX_PROBLEMS = 5
"""The most sentences about one layer: a repository's file must not fill the user's screen."""


WRONG_KEY = "[key]"
TYPES = re.compile(r"\ba valid (\w+)(?: or instance of \w+)?")
IN_WORDS = {
    "tuple": "a list",
    "list": "a list",
    "dictionary": "a table",
    "string": "a string",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
}
"""The types of values in TOML and JSON, by pydantic's names."""


def clean_layer(model: type[BaseModel], values: Mapping[str, Any], source: str, problems: list[str]) -> dict[str, Any]:
    """Returns the layer without nulls (null means "not set here") and without what `model` does not accept.

    The result validates by alias. The sentences are added to `problems`; each starts with `source`.
    """
    cleaned: dict[str, Any] = without_nulls(values)
    wrong = _wrong(model, cleaned)
    for found in wrong[:MAX_PROBLEMS]:
        problems.append(f"{source}: {_sentence(model, found['loc'], found['type'], found['msg'], cleaned)}")
    if len(wrong) > MAX_PROBLEMS:
        problems.append(f"{source}: {len(wrong) - MAX_PROBLEMS} more settings are invalid, and are ignored")
    while wrong:  # again, since a value can need the part that was removed from it
        for found in wrong:
            _unset(cleaned, found["loc"][:-1] if found["type"] == "missing" else found["loc"])
        cleaned = without_nulls(cleaned)
        wrong = _wrong(model, cleaned)
    return cleaned


def _wrong(model: type[BaseModel], values: Mapping[str, Any]) -> list[ErrorDetails]:
    try:
        model.model_validate(values, by_alias=True, by_name=False)
    except ValidationError as error:
        return [_placed(found, values) for found in error.errors(include_url=False, include_context=False)]
    return []


def _placed(found: ErrorDetails, values: Any) -> ErrorDetails:
    """With the place of the value if its key is wrong: pydantic then adds a step that is not in the values."""
    *outer, last = found["loc"]
    for step in outer:
        values = values[step]
    if last == WRONG_KEY and not (isinstance(values, dict) and last in values):
        return {**found, "loc": tuple(outer)}
    return found


def _unset(values: Any, location: tuple[int | str, ...]) -> None:
    *outer, last = location
    for step in outer:
        # Two problems can be in one value; after the first, the value is gone.
        if values is None:
            return
        values = values[step]
    if values is not None:
        values[last] = None


def without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value if inner is not None]
    return value


def _sentence(model: type[BaseModel], location: tuple[int | str, ...], kind: str, message: str, values: Any) -> str:
    name = _shown_name(location)
    if kind == "extra_forbidden":
        if location[0] == "providers":
            return f"{name} is not a setting; ignored (never write a key into settings: apiKeyEnv names its variable)"
        similar = difflib.get_close_matches(to_camel(str(location[-1])), known_names(model, *location[:-1]), n=1)
        return f"{name} is not a setting; ignored" + (f" (did you mean {similar[0]}?)" if similar else "")
    if kind == "missing":
        return f"{_shown_name(location[:-1])} has no {location[-1]}; ignored until corrected"
    for step in location:
        values = values[step]
    # The value can be a key in the wrong place, so values of a provider or MCP server are never repeated.
    shown = "" if location[0] in ("providers", "mcp") else f" is {quoted(values)}, but"
    header = ": write [[hooks]], not [hooks]" if location == ("hooks",) and isinstance(values, dict) else ""
    return f"{name}{shown} {plain_reason(message)}{header}; ignored until corrected"


def plain_reason(message: str) -> str:
    """The message of a ValidationError in words that do not presume Python."""
    text = message.removeprefix("Value error, ").replace("Input should be", "must be")
    return TYPES.sub(lambda found: IN_WORDS.get(found[1], found[0]), text)


def _shown_name(location: tuple[int | str, ...]) -> str:
    """Hooks are counted from 1, as in messages about `.tark/hooks.toml`."""
    match location:
        case ("hooks", int(number)):
            return f"hook {number + 1}"
        case ("hooks", int(number), *rest):
            return f"hook {number + 1}: {dotted(rest)}"
    return dotted(location)


def dotted(location: Iterable[int | str]) -> str:
    """A setting's name as text for the user. Unusual names are escaped."""
    name = ".".join(str(step) for step in location)
    return name if re.fullmatch(r"[\w.-]{1,80}", name, re.ASCII) else quoted(name)


def quoted(value: object) -> str:
    """Foreign text for a message: escaped and shortened."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def known_names(model: type[BaseModel], *location: int | str) -> list[str]:
    """The names of the protocol at this place."""
    for step in location:
        inner = next((field.annotation for field in model.model_fields.values() if field.alias == step), None)
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return [field.alias for field in model.model_fields.values() if field.alias]


def remove_setting(values: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Removes one setting. Returns whether it was set."""
    *outer, last = path
    for name in outer:
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            return False
        values[name] = values = dict(inner)
    return values.pop(last, None) is not None


def leaf_paths(values: Mapping[str, Any], outer: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every value that is not a dictionary."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from leaf_paths(value, (*outer, key))
        else:
            yield (*outer, key)


def our_section(
    model: type[BaseModel], sent: object, source: str, problems: list[str], *, only_known: bool
) -> dict[str, Any]:
    """Tark's part of what an editor sent: under "tark", else the bare keys (`only_known`: only Tark's keys)."""
    if isinstance(sent, Mapping) and "tark" in sent:
        sent, only_known = sent["tark"], False
    if sent is None or sent == []:  # an empty Lua table arrives as a list
        return {}
    if not isinstance(sent, Mapping):
        problems.append(f"{source} must be an object of settings, not {quoted(sent)}; ignored")
        return {}
    return {key: value for key, value in sent.items() if not only_known or key in known_names(model)}


def merge_layer(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    """Values of `layer` replace earlier ones; lists are joined."""
    for key, value in layer.items():
        if isinstance(value, dict):
            merge_layer(into.setdefault(key, {}), value)
        elif isinstance(value, list):
            into[key] = [*into.get(key, ()), *value]
        else:
            into[key] = value
