"""Tokens that stand for secrets in a text, and such a text with the places of its tokens. masks.py makes them."""

import re
from dataclasses import dataclass, field

MARK = "[masked-secret"
TOKEN = re.compile(r"\[masked-secret:[a-z]+(?:-[a-z]+)*:(?P<id>[0-9a-f]{8,64}(?:\.[0-9]{1,3})?)\]")
LIKE_TOKEN = re.compile(r"\[masked-secret\b[^\[\]\n]{0,120}\]?", re.IGNORECASE)
"""A token as a model could write it wrongly, too: that must not get into a file."""


class UnknownToken(Exception):
    """New text holds a token that does not stand for a secret of its file."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


@dataclass(frozen=True, slots=True)
class Mask:
    """`original[start:end]` is `token` in the masked text, where it begins at `at`."""

    start: int
    end: int
    at: int
    token: str


@dataclass(frozen=True, slots=True)
class Masked:
    """`originals`: the secret of each id."""

    text: str
    masks: tuple[Mask, ...] = ()
    originals: dict[str, str] = field(default_factory=dict)

    def place_of(self, start: int, end: int) -> tuple[int, int]:
        """Where `original[start:end]` is in the masked text. A secret that it cuts is in it as a whole."""
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
        """Whether the offset in the original is within a secret."""
        return any(mask.start < offset < mask.end for mask in self.masks)
