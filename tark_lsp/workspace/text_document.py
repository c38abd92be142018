"""One open document: its text, kept as lines so that a change costs O(edit), and whether the text is saved."""

from pathlib import Path

from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.snapshot import Snapshot

CHAT_ENDING = ".tark.md"
PROMPT_SCHEME = "tark:"


class TextDocument:
    """One open document. Only `Documents` changes it.

    `lines` keep their endings. There is one more line than line endings, so every line number of LSP is an index.
    """

    def __init__(self, uri: str, path: Path | None, language_id: str, version: int | None, text: str) -> None:
        self.uri = uri
        """The client's own string, which is sent back unchanged."""
        self.path = path
        """Resolved; None for `untitled:` and everything else that is not a file."""
        self.language_id = language_id
        self.version = version
        """None if the client sends no versions."""
        self.lines = _split(text)
        self.touched = False
        """Was it changed since it was opened or saved?"""
        self.save_reason: object = None
        """What `willSave` reported, until the `didSave`."""
        self.changes = 0
        """The number of changes. Shows without a comparison whether a copy of the text is current."""
        self._text: str | None = text
        self._snapshot: Snapshot | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self.lines)
        return self._text

    def snapshot(self) -> Snapshot:
        """The current text. If it is not a file, its path is its URI: relative, so never the path of a file."""
        known = self._snapshot
        if known is None or known.text is not self.text or known.version != self.version:
            lines = self.lines[:] if self.lines[-1] else self.lines[:-1]
            known = Snapshot.of_lines(self.path or Path(self.uri), self.text, self.version, lines)
            self._snapshot = known
        return known

    @property
    def dirty(self) -> bool:
        """Does it have text that is not on disk? Reads the file.

        Editors convert line endings and add a final one without reporting a change. So line endings count only in a
        document that was changed. For a file in an encoding other than UTF-8, only reported changes count.
        """
        if self.path is None:
            return bool(self.text)
        try:
            saved = self.path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return self.touched or not self.path.exists()
        if saved == self.text:
            return False
        return self.touched or _rough(saved) != _rough(self.text)

    def replace(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Replace the range from `start` to `end` (line, code point), which is in the document, with `text`."""
        first, last = start[0], end[0]
        head, tail = self.lines[first][: start[1]], self.lines[last][end[1] :]
        if not head and first > 0 and self.lines[first - 1].endswith("\r") and (text or tail).startswith("\n"):
            first -= 1  # the change made one line ending of an existing \r and a \n
            head = self.lines[first]
        replaced = _split(head + text + tail)
        if last < len(self.lines) - 1:
            replaced.pop()  # the empty line after the ending of `last`, where the next line already is
        self.lines[first : last + 1] = replaced
        self.touched = True
        self.changes += 1
        self._text = self._snapshot = None


def is_chat(path: Path | None) -> bool:
    return path is not None and path.name.endswith(CHAT_ENDING)


def is_prompt(uri: str) -> bool:
    """Is it the input of a client's own chat, `tark:...tark.md`? It is not a file, but completed like a chat file."""
    return uri.startswith(PROMPT_SCHEME) and uri.endswith(CHAT_ENDING)


def _split(text: str) -> list[str]:
    lines = split_lines(text)
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def _rough(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
