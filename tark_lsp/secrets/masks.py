"""`SecretMasks`: replaces the secrets in a text with tokens for the model, and restores the originals in new text.

A token is `[masked-secret:KIND:ID]`. The id is a keyed hash of the secret, so the same secret has the same token in
every session and after a restart. No secret is stored, because it is found again in the file. Each line of a secret
with several lines has its own token (`ID.1`, `ID.2`), so that line numbers do not change.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tark_lsp.secrets.detection import PLAIN, Secret, find_secrets, looks_random, merged
from tark_lsp.secrets.tokens import LIKE_TOKEN, MARK, TOKEN, Mask, Masked, UnknownToken

ID_DIGITS = 8
"""Hexadecimal digits. If two secrets of a file have the same id, the id of the second one is longer."""

SHORTEST_KNOWN, MOST_KNOWN = 8, 2000
"""A value that was found once is masked everywhere. This applies to values with at least SHORTEST_KNOWN characters, and
to the first MOST_KNOWN of them. Other values are masked only where they are detected."""

MOST_CACHED = 4
"""Masked files that are cached, because a long file is read in several calls."""

PROCESS_KEY = secrets.token_bytes(32)


class SecretMasks:
    """One per session. `known`: values that are masked everywhere."""

    def __init__(self, key: bytes = PROCESS_KEY, known: Iterable[str] = ()) -> None:
        self._key = key
        self._known: dict[str, tuple[str, str, int]] = {}
        self._shown: set[str] = set()
        self._of_file: dict[Path, dict[str, str]] = {}
        self._cached: dict[Path, tuple[str, bool, int, Masked]] = {}
        for value in known:
            self._learn(value, "environment", value)

    def mask_text(self, text: str, *, every_value: bool = False) -> str:
        """Mask a text that is not from exactly one file. Tokens in it stay. `every_value`: as in `mask_file`."""
        taken = [(found.start(), found.end()) for found in TOKEN.finditer(text)] if MARK in text else []
        found = [one for one in find_secrets(text, every_value=every_value) if not _overlaps(one, taken)]
        return self._masked(text, found, taken).text

    def mask_file(self, path: Path, text: str, *, every_value: bool = False, shown: bool = False) -> Masked:
        """Mask the whole text of a file. `every_value`: the name of the file says that it has keys. `shown`: the user
        allowed to show its secrets, in every text of the session."""
        cached = self._cached.get(path)
        state = len(self._known) + len(self._shown)
        if cached is not None and cached[:3] == (text, shown, state):
            return cached[3]
        found = find_secrets(text, every_value=every_value)
        if shown:
            self._shown |= {text[one.start : one.end] for one in found}
            masked = Masked(text)
        else:
            masked = self._masked(text, found)
            if MARK in text and (own := _tokens_in(text, masked.originals)):
                masked = self._masked(text, [*found, *own])  # so that a token never has two meanings
            self._of_file.setdefault(path, {}).update(masked.originals)
        while len(self._cached) >= MOST_CACHED:
            del self._cached[next(iter(self._cached))]
        self._cached[path] = (text, shown, len(self._known) + len(self._shown), masked)
        return masked

    def restore(self, path: Path, new: str, current: str, *, every_value: bool = False) -> str:
        """Replace the tokens in `new`, which a model wrote for the file, with the secrets of the file.

        `current`: the text of the file, which can also contain a token as ordinary text. Raises UnknownToken.
        """
        if LIKE_TOKEN.search(new) is None:
            return new
        originals = {
            **self._of_file.get(path, {}),
            **self.mask_file(path, current, every_value=every_value).originals,
        }

        def original(found: re.Match[str]) -> str:
            token = TOKEN.fullmatch(found[0])
            if token is not None and token["id"] in originals:
                return originals[token["id"]]
            if found[0] in current:
                return found[0]
            raise UnknownToken(found[0])

        return LIKE_TOKEN.sub(original, new)

    def mask_json(self, value: Any, *, every_value: bool = False) -> Any:
        """Mask the secrets in all texts of a JSON value."""
        match value:
            case str():
                return self.mask_text(value, every_value=every_value)
            case dict():
                return {key: self.mask_json(one, every_value=every_value) for key, one in value.items()}
            case list() | tuple():
                return [self.mask_json(one, every_value=every_value) for one in value]
            case _:
                return value

    def _masked(self, text: str, found: Iterable[Secret], taken: Sequence[tuple[int, int]] = ()) -> Masked:
        """`taken`: ranges that stay unchanged."""
        pieces: list[str] = []
        masks: list[Mask] = []
        originals: dict[str, str] = {}
        end = length = 0
        for secret in merged(text, [*found, *self._occurrences(text, taken)]):
            original = text[secret.start : secret.end]
            if original in self._shown:
                continue
            id_ = self._new_id(secret, original, originals)
            originals[id_] = original
            token = f"{MARK}:{secret.kind}:{id_}]"
            pieces += [text[end : secret.start], token]
            at = length + secret.start - end
            masks.append(Mask(secret.start, secret.end, at, token))
            end, length = secret.end, at + len(token)
            if secret.kind != "value" or looks_random(original):
                self._learn(original, secret.kind, secret.whole, secret.part)
        return Masked("".join([*pieces, text[end:]]), tuple(masks), originals) if masks else Masked(text)

    def _learn(self, value: str, kind: str, whole: str, part: int = 0) -> None:
        if len(value) >= SHORTEST_KNOWN and len(self._known) < MOST_KNOWN and not PLAIN.fullmatch(value):
            self._known.setdefault(value, (kind, whole, part))

    def _occurrences(self, text: str, taken: Sequence[tuple[int, int]]) -> Iterator[Secret]:
        """The occurrences of the known values."""
        for value, (kind, whole, part) in self._known.items():
            at = text.find(value)
            while at >= 0:
                one = Secret(at, at + len(value), kind, whole, part)
                if not _overlaps(one, taken):
                    yield one
                at = text.find(value, at + len(value))

    def _new_id(self, secret: Secret, original: str, taken: Mapping[str, str]) -> str:
        digits = ID_DIGITS
        while taken.get(id_ := self._id_of(secret.whole, secret.part, digits), original) != original:
            digits += 2
        return id_

    def _id_of(self, whole: str, part: int, digits: int) -> str:
        made = hmac.new(self._key, whole.encode("utf-8", "surrogatepass"), sha256).hexdigest()[:digits]
        return f"{made}.{part}" if part else made


def _overlaps(secret: Secret, places: Iterable[tuple[int, int]]) -> bool:
    return any(secret.start < end and start < secret.end for start, end in places)


def _tokens_in(text: str, originals: Mapping[str, str]) -> list[Secret]:
    """The places where the text itself contains the token of one of its secrets."""
    found = (one for one in TOKEN.finditer(text) if one["id"] in originals)
    return [Secret(one.start(), one.end(), "token", one[0]) for one in found]
