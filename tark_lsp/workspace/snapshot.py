"""Snapshot: the text of a file at one moment, as the editor or the disk had it."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path


def digest_of(text: str) -> str:
    """SHA-256 in hexadecimal. A lone surrogate, which editors can send, is hashed like any other code point."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`text` has the newlines of the buffer or the file, not translated, and no byte order mark."""

    path: Path
    """Absolute, without links."""
    text: str
    version: int | None = None
    """The editor's version of the document; None if it is not open."""
    exists: bool = True
    """False: the file does not exist yet, and `text` is empty."""

    @property
    def digest(self) -> str:
        return digest_of(self.text)
