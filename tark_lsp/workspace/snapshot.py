"""Snapshot: the text of a file at one moment, as the editor or the disk had it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tark_lsp.workspace.lines import split_lines


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
    _lines: list[Sequence[str]] = field(default_factory=list, init=False, repr=False, compare=False)
    """The cached lines and digest, because computing them takes time for a long text."""
    _digest: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of_lines(cls, path: Path, text: str, version: int | None, lines: Sequence[str]) -> "Snapshot":
        """`lines` are the lines of the text, and must not be changed any more."""
        made = cls(path, text, version)
        made._lines.append(lines)
        return made

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their endings."""
        if not self._lines:
            self._lines.append(split_lines(self.text))
        return self._lines[0]

    @property
    def digest(self) -> str:
        if not self._digest:
            self._digest.append(digest_of(self.text))
        return self._digest[0]
