"""What a file's text was at one moment, as the editor or the disk had it."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path


def digest_of(text: str) -> str:
    """SHA-256, in hex. A lone surrogate, which an editor may send, is hashed like any other code point."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`text` has its newlines as they are in the buffer or the file, never translated, and no byte order mark."""

    path: Path
    """Absolute, with no links left in it."""
    text: str
    version: int | None = None
    """The editor's version of the document; None: it is not open."""
    exists: bool = True
    """False: there is no such file yet, and `text` is empty."""

    @property
    def digest(self) -> str:
        return digest_of(self.text)
