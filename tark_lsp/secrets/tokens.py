"""Tokens that replace secrets, and a masked text with the positions of its tokens. masks.py creates them."""

import re
from dataclasses import dataclass, field

MARK = "[masked-secret"
TOKEN = re.compile(r"\[masked-secret:[a-z]+(?:-[a-z]+)*:(?P<id>[0-9a-f]{8,64}(?:\.[0-9]{1,3})?)\]")
LIKE_TOKEN = re.compile(r"\[masked-secret\b[^\[\]\n]{0,120}\]?", re.IGNORECASE)
"""Also matches a token that a model wrote wrongly: it must not get into a file."""


class UnknownToken(Exception):
    """New text contains a token that does not belong to a secret of its file."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


@dataclass(frozen=True, slots=True)
class Mask:
    """`original[start:end]` is replaced with `token`, which begins at `at` in the masked text."""

    start: int
    end: int
    at: int
    token: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A masked text. `originals`: the secret of each id."""

    text: str
    masks: tuple[Mask, ...] = ()
    originals: dict[str, str] = field(default_factory=dict)

    def place_of(self, start: int, end: int) -> tuple[int, int]:
        """The range of `original[start:end]` in the masked text. A secret at its edge is included as a whole."""
        place = [start, end]
        for mask in self.masks:
            token_end = mask.at + len(mask.token)
            if mask.end <= start:
                place[0] = start - mask.end + token_end
            elif mask.start < start:
                place[0] = mask.at
            if mask.end <= end:
                place[1] = end - mask.end + token_end
            elif mask.start < end:
                place[1] = token_end
        return place[0], place[1]

    def cuts(self, offset: int) -> bool:
        """Whether the offset in the original is inside a secret."""
        return any(mask.start < offset < mask.end for mask in self.masks)
