"""Arguments of a call that arrive in pieces, each with a JSON path: Vertex AI's `partialArgs`.

Supports the paths of that API only: `$`, then names (`.name`, `['name']`) and positions in lists (`[0]`).
"""

import re
from itertools import pairwise
from typing import Any

from tark_lsp.errors import ProtocolError

STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,6})\]|\['([^']*)'\]|\["([^"]*)"\]""")
MAX_POSITION = 10_000
"""Lists are filled up to a position, so a large number could use up the memory."""


class PartialArguments:
    """`value` holds the arguments so far."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self._open = ""  # the path of a text that continues in the next piece

    def add_piece(self, path: str, piece: Any, *, more: bool) -> None:
        """`more`: the next piece with this path continues the text. Raises ProtocolError for an invalid path."""
        steps = _steps(path)
        place: Any = self.value
        for step, following in pairwise(steps):
            inner = _get(place, step, path)
            if inner is None:
                inner = [] if isinstance(following, int) else {}
                _set(place, step, inner)
            place = inner
        before = _get(place, steps[-1], path)
        continues = self._open == path and isinstance(before, str) and isinstance(piece, str)
        _set(place, steps[-1], before + piece if continues else piece)
        self._open = path if more else ""


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    end = 1
    while match := STEP.match(path, end):
        name, position, single, double = match.groups()
        steps.append(int(position) if position else name or single or double or "")
        end = match.end()
    if not steps or not path.startswith("$") or end != len(path):
        raise ProtocolError(f"the provider sent an argument at {path[:200]!r}, which is not a path")
    return steps


def _get(place: Any, step: str | int, path: str) -> Any:
    """The value at this step, None if there is none."""
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and step <= MAX_POSITION:
        return place[step] if step < len(place) else None
    raise ProtocolError(f"the provider sent an argument at {path[:200]!r}, which does not fit the arguments before it")


def _set(place: Any, step: str | int, value: Any) -> None:
    if isinstance(step, int):
        place.extend([None] * (step + 1 - len(place)))
    place[step] = value
