"""What a turn is about: the document and range of a request, in the current text (protocol.md, "Document and range").

A range in an older version is mapped through the changes since then. If the version is newer, the server waits for it.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.errors import FileMissing, RequestError, WorkspaceError
from tark_lsp.server.documents.ranges import enclosing_definition
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.documents import Change, Closed, DocumentEvent, Documents, Opened, TextDocument
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import count_lines, split_lines
from tark_lsp.workspace.positions import from_client, line_length, to_client
from tark_lsp.workspace.snapshot import Snapshot
from tark_lsp.workspace.uris import path_from_uri

CONTENT_MODIFIED = -32801
REMEMBERED_CHANGES = 500
WAIT_FOR_VERSION = 1.0

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Target:
    """If the request has no range, `selection` is the whole text, and `whole` is true."""

    uri: str
    name: str
    selection: Selection
    is_file: bool
    whole: bool
    language_id: str = ""


class ContentModified(RequestError):
    def __init__(self, message: str) -> None:
        super().__init__(message, hint="select it again", rpc_code=CONTENT_MODIFIED)


@dataclass(slots=True)
class ChangeHistory:
    """The changes of one document since its version `oldest`, which is None if the client does not number versions."""

    oldest: int | None
    changes: deque[Change] = field(default_factory=deque)


class Targets:
    def __init__(self, documents: Documents, workspace: Workspace) -> None:
        self._documents = documents
        self._workspace = workspace
        self._histories: dict[TextDocument, ChangeHistory] = {}
        documents.listen(self._remember)

    async def find_target(self, identifier: incoming.DocumentId, wanted: incoming.Range | None) -> Target:
        """Raises RequestError -32602 if the request makes no sense, -32801 if the user changed the range meanwhile."""
        document = self._documents.find_document(identifier.uri)
        if document is None:
            return self._closed(identifier.uri, wanted)
        version = identifier.version
        if version is not None and document.version is not None and version > document.version:
            await self._wait(document, version)
        # The positions are in the client's encoding and in the lines of that version.
        places = None if wanted is None else self._places(document, wanted, version)
        snapshot = document.snapshot()
        lines = document.lines
        if len(snapshot.text) > LARGEST_FILE:
            raise RequestError(f"textDocument: {document.uri} is larger than {LARGEST_FILE // 1_000_000} MB")
        name = document.uri if document.path is None else self._workspace.display(document.path)
        selection, whole = _selection(snapshot, lines, places)
        return Target(document.uri, name, selection, document.path is not None, whole, document.language_id)

    def range_json(self, target: Target) -> dict[str, Any]:
        """The range of the target, in the client's units."""
        text = target.selection.snapshot.text
        start, end = (self._units(text, offset) for offset in (target.selection.start, target.selection.end))
        return range_json(*start, *end)

    def _units(self, text: str, offset: int) -> Place:
        begun = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
        return count_lines(text[:begun]), to_client(text[begun:offset], offset - begun, self._documents.encoding)

    def _closed(self, uri: str, wanted: incoming.Range | None) -> Target:
        path = path_from_uri(uri)
        if path is None:
            raise RequestError(f"textDocument: {uri} is not open and is not a file")
        try:
            snapshot = self._workspace.read(path)
        except FileMissing as error:
            raise RequestError(f"textDocument: {error.message}") from error
        except WorkspaceError as error:
            raise RequestError(f"textDocument: {error.message}", hint=error.hint) from error
        lines = _lines(snapshot.text)
        places = None if wanted is None else _checked(lines, wanted, self._documents.encoding)
        selection, whole = _selection(snapshot, lines, places)
        return Target(uri, self._workspace.display(path), selection, True, whole, path.suffix.removeprefix("."))

    async def _wait(self, document: TextDocument, version: int) -> None:
        changed = asyncio.Event()
        stop = self._documents.listen(lambda _: changed.set())
        try:
            async with asyncio.timeout(WAIT_FOR_VERSION):
                while (document.version or 0) < version:
                    changed.clear()
                    await changed.wait()
        except TimeoutError as error:
            raise ContentModified(f"textDocument: version {version} of {document.uri} was never sent") from error
        finally:
            stop()

    def _places(self, document: TextDocument, wanted: incoming.Range, version: int | None) -> tuple[Place, Place]:
        if version is None or document.version is None or version >= document.version:
            return _checked(document.lines, wanted, self._documents.encoding)
        history = self._histories[document]
        if history.oldest is None or version < history.oldest:
            raise ContentModified(f"textDocument: version {version} of {document.uri} is no longer known")
        start = (wanted.start.line, wanted.start.character)
        end = (wanted.end.line, wanted.end.character)
        if start > end:
            raise RequestError("range: it ends before it starts")
        for change in history.changes:
            if (change.version or 0) > version:
                start, end = _carried(start, end, change, self._documents.encoding)
        return _checked(document.lines, _range(start, end), self._documents.encoding)

    def _remember(self, event: DocumentEvent) -> None:
        match event:
            case Opened(document):
                self._histories[document] = ChangeHistory(document.version)
            case Change(document):
                history = self._histories[document]
                history.changes.append(event)
                if len(history.changes) > REMEMBERED_CHANGES:
                    history.oldest = history.changes.popleft().version
            case Closed(document):
                del self._histories[document]
            case _:
                pass


def _carried(start: Place, end: Place, change: Change, encoding: str) -> tuple[Place, Place]:
    """The range after a change outside the range, in the client's units. Raises ContentModified for a change inside."""
    first, last = (change.start_line, change.start_units), (change.end_line, change.end_units)
    if first >= end and first != start:
        return start, end
    if last > start:
        raise ContentModified("range: you changed it meanwhile")
    return _shifted(start, change, encoding), _shifted(end, change, encoding)


def _shifted(place: Place, change: Change, encoding: str) -> Place:
    added = split_lines(change.text) or [""]
    if added[-1].endswith(("\n", "\r")):
        added.append("")
    line = place[0] + len(added) - 1 - (change.end_line - change.start_line)
    if place[0] > change.end_line:
        return line, place[1]
    base = change.start_units if len(added) == 1 else 0
    return line, place[1] - change.end_units + base + to_client(added[-1], len(added[-1]), encoding)


def _range(start: Place, end: Place) -> incoming.Range:
    return incoming.Range(
        start=incoming.Position(line=start[0], character=start[1]), end=incoming.Position(line=end[0], character=end[1])
    )


def _checked(lines: list[str], wanted: incoming.Range, encoding: str) -> tuple[Place, Place]:
    """The places in code points. A character past the end of its line is clamped, a line past the end is an error."""
    for position in (wanted.start, wanted.end):
        if position.line >= len(lines):
            raise RequestError(f"range: line {position.line} is past the end, which is line {len(lines) - 1}")
    start, end = (
        (position.line, from_client(lines[position.line], position.character, encoding))
        for position in (wanted.start, wanted.end)
    )
    if (wanted.start.line, wanted.start.character) > (wanted.end.line, wanted.end.character):
        raise RequestError("range: it ends before it starts")
    return start, end


def _selection(snapshot: Snapshot, lines: list[str], places: tuple[Place, Place] | None) -> tuple[Selection, bool]:
    """A range of at most one character (a line ending is one) is a cursor. It selects the definition around it, or else
    its line."""
    if places is None:
        return Selection(snapshot, 0, len(snapshot.text)), True
    start, end = places
    on_ending = end == (start[0] + 1, 0) and start[1] == line_length(lines[start[0]])
    if on_ending or (start[0] == end[0] and end[1] - start[1] <= 1):
        first, last = enclosing_definition(lines, start[0])
        start, end = (first, 0), (last, 0)
        if last >= len(lines):
            end = (len(lines) - 1, len(lines[-1]))
    return Selection(snapshot, _offset(lines, start), _offset(lines, end)), False


def _offset(lines: list[str], place: Place) -> int:
    return sum(map(len, lines[: place[0]])) + place[1]


def _lines(text: str) -> list[str]:
    """Lines as documents have them: one more than there are line endings."""
    lines = split_lines(text)
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines
