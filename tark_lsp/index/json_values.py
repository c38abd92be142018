"""Converts frozen values of the index to JSON values and back, by the types of their fields."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tark_lsp.index import questions
from tark_lsp.index.questions import Question

T = TypeVar("T")

QUESTIONS: Mapping[str, type[Question[Any]]] = {
    kind.__name__: kind
    for kind in vars(questions).values()
    if isinstance(kind, type) and issubclass(kind, Question) and is_dataclass(kind)
}


def to_json(value: Any) -> Any:
    """Convert a dataclass, a Path, an Enum, a type of JSON, or a sequence of these."""
    if value is None or isinstance(value, str | int | float | bool):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    kind: Any = type(value)
    return {name: to_json(getattr(value, name)) for name in _hints(kind)}


def from_json(kind: Any, value: Any) -> Any:
    """Raises ValueError, TypeError or KeyError if the value does not have this type."""
    if kind in (Any, str, int, float, bool) or value is None:
        return value
    if kind is Path:
        return Path(value)
    if get_origin(kind) is tuple:
        each, *others = get_args(kind)
        if not others or others == [...]:
            return tuple(from_json(each, item) for item in value)
        return tuple(from_json(of, item) for of, item in zip((each, *others), value, strict=True))
    if get_origin(kind) is types.UnionType:
        return from_json(next(of for of in get_args(kind) if of is not types.NoneType), value)
    if issubclass(kind, Enum):
        return kind(value)
    return kind(**{name: from_json(of, value[name]) for name, of in _hints(kind).items()})


def question_to_json(question: Question[Any]) -> dict[str, Any]:
    return {"kind": type(question).__name__, "of": to_json(question)}


def question_from_json(value: Mapping[str, Any]) -> Question[Any]:
    found: Question[Any] = from_json(QUESTIONS[value["kind"]], value["of"])
    return found


def item_type(question: Question[T]) -> type[T]:
    """The type of the items of an answer to this question."""
    (base,) = vars(type(question))["__orig_bases__"]
    kind: type[T] = get_args(base)[0]
    return kind


@cache
def _hints(kind: type[Any]) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
