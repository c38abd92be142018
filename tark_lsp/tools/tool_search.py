"""Finds the tools that match a query, by the words of their names, descriptions and arguments. Pure.

A word counts more in a name than in a description, and more if few tools have it. The same query and tools always have
the same result, in the same order.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from tark_lsp.messages import ToolDefinition

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W_a-zA-Z]+")
IN_NAME = 3.0
IN_ARGUMENTS = 0.5
BEGINNING = 0.5
"""The weight of a match of only the beginning of a word (`file`, `files`)."""
SHORTEST_BEGINNING = 3


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a tool's name, description and arguments."""

    name: frozenset[str]
    description: frozenset[str]
    arguments: frozenset[str]

    def weight(self, word: str) -> float:
        """The weight of the word for this tool; 0 if it does not match."""
        return max(
            IN_NAME * _match(word, self.name),
            _match(word, self.description),
            IN_ARGUMENTS * _match(word, self.arguments),
        )


def search_tools(query: str, tools: Sequence[ToolDefinition], most: int) -> list[ToolDefinition]:
    """The best matches, best first, then by name. Tools whose whole name is in the query come first."""
    named = set(re.findall(r"[\w-]+", query))
    words = sorted(words_of(query))
    known = [
        _Words(words_of(tool.name), words_of(tool.description), words_of(" ".join(_arguments(tool)))) for tool in tools
    ]
    weights = [[one.weight(word) for one in known] for word in words]
    rarity = [math.log1p(len(tools) / (1 + sum(weight > 0 for weight in row))) for row in weights]
    scored = []
    for place, tool in enumerate(tools):
        score = math.fsum(row[place] * rare for row, rare in zip(weights, rarity, strict=True))
        if tool.name in named or score > 0:
            scored.append((tool.name not in named, -round(score, 9), tool.name, tool))
    return [tool for *_, tool in sorted(scored, key=lambda one: one[:3])[:most]]


def near_tools(name: str, names: Sequence[str], most: int = 3) -> list[str]:
    """Names that equal `name` without their server, then names with a similar spelling, the nearest first."""
    ending = [one for one in sorted(names) if name and one.endswith(f"__{name}")]
    return [*dict.fromkeys([*ending, *get_close_matches(name, sorted(names), most, 0.6)])][:most]


def words_of(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(text))


def _match(word: str, words: frozenset[str]) -> float:
    if word in words:
        return 1.0
    if len(word) < SHORTEST_BEGINNING:
        return 0.0
    similar = (other for other in words if len(other) >= SHORTEST_BEGINNING)
    return BEGINNING if any(other.startswith(word) or word.startswith(other) for other in similar) else 0.0


def _arguments(tool: ToolDefinition) -> list[str]:
    properties = tool.parameters.get("properties")
    return list(properties) if isinstance(properties, dict) else []
