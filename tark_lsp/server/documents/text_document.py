"""One open document, kept as lines so that a change costs O(edit): its text, and whether that is saved."""

from pathlib import Path

from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.snapshot import Snapshot

CHAT_ENDING = ".tark.md"
PROMPT_SCHEME = "tark:"


class TextDocument:
    """One open document. Only `Documents` changes it.

    `lines` keep their endings and are one more than the line endings, so that every line number of LSP is an index.
    """

    def __init__(self, uri: str, path: Path | None, language_id: str, version: int | None, text: str) -> None:
        self.uri = uri
        """The client's own string, sent back to it as it is."""
        self.path = path
        """Resolved; None for `untitled:` and whatever else is no file."""
        self.language_id = language_id
        self.version = version
        """None: the client numbers no versions."""
        self.lines = _split(text)
        self.touched = False
        """Changed since it was opened or saved."""
        self.changes = 0
        """How many there were; so who keeps a text of it knows, without comparing, whether it is the one of now."""
        self._text: str | None = text

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self.lines)
        return self._text

    def snapshot(self) -> Snapshot:
        """The text of now. What is no file has its URI for a path: relative, so it is never taken for a file's."""
        return Snapshot(path=self.path or Path(self.uri), text=self.text, version=self.version)

    @property
    def dirty(self) -> bool:
        """Is there text here that is not on disk? Reads the file.

        Editors translate line endings and add the last one without calling that a change, so they count only in a
        document that was changed; a file in another encoding than UTF-8 is compared by that alone.
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
        """Put `text` where `start` to `end` (line, code point) stood; both lie within the document."""
        first, last = start[0], end[0]
        head, tail = self.lines[first][: start[1]], self.lines[last][end[1] :]
        if not head and first > 0 and self.lines[first - 1].endswith("\r") and (text or tail).startswith("\n"):
            first -= 1  # the change made one line ending of a \r that was there and a \n
            head = self.lines[first]
        replaced = _split(head + text + tail)
        if last < len(self.lines) - 1:
            replaced.pop()  # the empty line after the ending of `last`: the next line stands there
        self.lines[first : last + 1] = replaced
        self.touched = True
        self.changes += 1
        self._text = None


def is_chat(path: Path | None) -> bool:
    return path is not None and path.name.endswith(CHAT_ENDING)


def is_prompt(uri: str) -> bool:
    """Where the person types in a client's own chat, `tark:...tark.md`: no file, and completed as a chat is."""
    return uri.startswith(PROMPT_SCHEME) and uri.endswith(CHAT_ENDING)


def _split(text: str) -> list[str]:
    lines = split_lines(text)
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def _rough(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
