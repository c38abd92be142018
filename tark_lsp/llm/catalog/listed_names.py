"""Whether a provider lists a model of this name, and which names it lists that are similar. Pure."""

import difflib
import re
from collections.abc import Collection

MOST_NEAR = 3
DATED = re.compile(r"(.+?)-\d{4}-?\d\d-?\d\d")


def is_listed(name: str, listed: Collection[str]) -> bool:
    """True also for an alias of a listed name: without its date (OpenAI, Anthropic), or without a tag (Ollama).

    OpenRouter accepts variants of all its models after a colon, but does not list them.
    """
    known = {*listed, *(found[1] for model in listed if (found := DATED.fullmatch(model)))}
    known |= {model.removesuffix(":latest") for model in listed}
    return name in known or name.rpartition(":")[0] in known


def near_names(name: str, listed: Collection[str]) -> list[str]:
    """The names that the user may have meant, the most similar first."""
    by_lower = {model.lower(): model for model in listed}
    return [by_lower[found] for found in difflib.get_close_matches(name.lower(), by_lower, MOST_NEAR)]
