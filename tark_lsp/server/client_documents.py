"""The files that the terminal has open as LSP documents: read, edited by `workspace/applyEdit`, written at once.

An edit of the server was approved before, so it is written to disk at once, and no document has unsaved changes. Bytes
outside of the edit stay as they are: text is decoded strictly, newlines are not translated, a byte order mark is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from tark_lsp.errors import NotText, WorkspaceError
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.disk.file_errors import file_error
from tark_lsp.workspace.disk.opening import open_folder
from tark_lsp.workspace.encoding import Encoding, decode
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.uris import uri_from_path

LANGUAGE_IDS = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "jsx": "javascriptreact",
    "tsx": "typescriptreact",
    "rs": "rust",
    "rb": "ruby",
    "cs": "csharp",
    "h": "c",
    "cc": "cpp",
    "hpp": "cpp",
    "sh": "shellscript",
    "md": "markdown",
    "yml": "yaml",
    "": "plaintext",
}
"""LSP's language ids that differ from the file's suffix."""

Notify = Callable[[str, object], None]


@dataclass(slots=True)
class Document:
    """`data`: the bytes on disk when they were last read or written here."""

    path: Path
    uri: str
    version: int
    text: str
    data: bytes
    encoding: Encoding

    @property
    def lines(self) -> list[str]:
        """With their endings."""
        return split_lines(self.text)


class Documents:
    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._open: dict[str, Document] = {}

    def open(self, path: Path) -> Document:
        """Read a file and tell the server. Raises FileMissing, NotText, FileTooLarge."""
        path = path.resolve()
        data = _read(path)
        text, encoding = _decode(path, data)
        document = Document(path, uri_from_path(path), 1, text, data, encoding)
        self._open[document.uri] = document
        suffix = path.suffix[1:].lower()
        item = {"uri": document.uri, "languageId": LANGUAGE_IDS.get(suffix, suffix), "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": item})
        return document

    def get(self, uri: str) -> Document | None:
        return self._open.get(uri)

    async def apply(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer `workspace/applyEdit`. Only an edit of one open document in its current version is applied."""
        changes = params["edit"].get("documentChanges") or []
        if len(changes) != 1 or "textDocument" not in changes[0]:
            return _refused("only edits of one open document are applied")
        named, edits = changes[0]["textDocument"], changes[0]["edits"]
        document = self._open.get(named["uri"])
        if document is None:
            return _refused(f"{named['uri']} is not open")
        if document.version != named["version"]:
            return _refused(f"version {named['version']} is not the current {document.version}")
        if self._reloaded(document):
            return _refused(f"{document.path} changed on disk")
        text = _edited(document.text, edits)
        try:
            data = document.encoding.encode(text)
            _write(document.path, data, document.data)
        except WorkspaceError as error:
            return _refused(f"{document.path} cannot be written: {error}")
        document.data = data
        self._changed(document, text)
        return {"applied": True}

    def _reloaded(self, document: Document) -> bool:
        """Did somebody else write the file, like a command of the agent? Then the server is told the new text."""
        try:
            data = _read(document.path)
            if data == document.data:
                return False
            text, document.encoding = _decode(document.path, data)
        except WorkspaceError:
            return True  # no longer a text file, so it cannot be edited either
        document.data = data
        self._changed(document, text)
        return True

    def _changed(self, document: Document, text: str) -> None:
        document.text = text
        document.version += 1
        versioned = {"uri": document.uri, "version": document.version}
        self._notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [{"text": text}]})
        self._notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})


def read_text(path: Path) -> str:
    """The text of a file as a document would hold it. Raises the same errors as `open`."""
    return _decode(path, _read(path))[0]


def _refused(reason: str) -> dict[str, Any]:
    return {"applied": False, "failureReason": reason}


def _edited(text: str, edits: list[Mapping[str, Any]]) -> str:
    """The text after LSP text edits, whose ranges are all in the text before them (LSP 3.17, "TextEdit[]")."""
    lines = split_lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(position: Mapping[str, int]) -> int:
        if position["line"] >= len(lines):
            return len(text)
        end = starts[position["line"]] + len(lines[position["line"]].rstrip("\r\n"))
        return min(starts[position["line"]] + position["character"], end)

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def _read(path: Path) -> bytes:
    try:
        return open_folder(path.parent).read(PurePath(path.name), LARGEST_FILE).data
    except (OSError, WorkspaceError) as error:
        known = file_error(error, str(path)) if isinstance(error, OSError) else error
        message = known.message if isinstance(error, OSError) else f"{path}: {known.message}"
        raise type(known)(message, hint=known.hint or "name a text file of at most 10 MB") from error


def _decode(path: Path, data: bytes) -> tuple[str, Encoding]:
    try:
        return decode(data)
    except NotText as error:
        raise NotText(f"{path}: {error.message}", hint=error.hint or "name a text file") from error


def _write(path: Path, data: bytes, expected: bytes) -> None:
    """Replace the file in one step, and keep its mode. Raises WriteFailed, and StaleText if it is not `expected`."""
    try:
        open_folder(path.parent).replace(PurePath(path.name), data, expected, lambda: True)
    except OSError as error:
        raise file_error(error, str(path), writing=True) from error
