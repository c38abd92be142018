"""Embedder: who turns texts into dense vectors. `llm` has one for endpoints, `static_model.py` one that runs here."""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Which model it is. Vectors of embedders with different names cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        """One vector for each text, all of the same length. `query`: the texts are questions, not pieces of code.

        Raises TarkError: then no vector of these texts is known.
        """
        ...
