"""The documents open in the editor, by their names, kept in step with it; who listens is told of every change."""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tark_lsp.server.capabilities import find
from tark_lsp.server.documents.positions import from_client, line_length, to_client
from tark_lsp.server.documents.text_document import TextDocument
from tark_lsp.server.documents.uris import path_from_uri, uri_from_path

__all__ = ["Change", "Closed", "DocumentEvent", "Documents", "Opened", "Saved", "TextDocument"]

logger = logging.getLogger(__name__)

SAVED_ALONE = (2, 3)
"""Of `reason`, a TextDocumentSaveReason, which is ours in didSave: after a delay, and when the focus goes elsewhere."""


@dataclass(frozen=True, slots=True)
class Opened:
    document: TextDocument


@dataclass(frozen=True, slots=True)
class Change:
    """`text` replaced what stood from start to end; lines and characters count from 0, characters in code points.

    Both places are in the text as it was before; a change of the whole document covers all of it.
    It is told once the document holds the new text; `version` is the one the client gives that state.
    """

    document: TextDocument
    start_line: int
    start_character: int
    end_line: int
    end_character: int
    text: str
    version: int | None
    start_units: int = field(default=0, compare=False)
    """`start_character` and `end_character` in the client's units, which the text after the change no longer tells."""
    end_units: int = field(default=0, compare=False)
    goes_on: bool = field(default=False, compare=False)
    """The next change of the same notification is further up: pieces of one edit, and no text of its own in between."""


@dataclass(frozen=True, slots=True)
class Saved:
    document: TextDocument
    by_hand: bool = True
    """Not so: the editor did it by itself (auto save), and said so."""


@dataclass(frozen=True, slots=True)
class Closed:
    document: TextDocument


DocumentEvent: TypeAlias = Opened | Change | Saved | Closed
Listener: TypeAlias = Callable[[DocumentEvent], None]


class Documents:
    """All open documents, by the client's URI and by resolved path.

    The `did_` methods take the params of the LSP notifications; what makes no sense in them is logged and left out.
    """

    def __init__(self, encoding: str = "utf-16", clock: Callable[[], float] = time.monotonic) -> None:
        self.encoding = encoding
        """Of positions; set from `ClientInfo.position_encoding` before the first document is opened."""
        self._clock = clock
        self._last_change = -math.inf
        self._by_uri: dict[str, TextDocument] = {}
        self._by_path: dict[Path, list[TextDocument]] = {}  # the one used last at the end
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """`listener` is given every event from now on, in order, before anything later from the client is read.

        Gives the function that ends it.
        """
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    @property
    def idle_for(self) -> float:
        """Seconds since the last didChange of any document (is the person typing?); inf before the first."""
        return self._clock() - self._last_change

    async def quiet(self, seconds: float) -> None:
        """Returns once the person has not typed for so long."""
        while (left := seconds - self.idle_for) > 0:  # noqa: ASYNC110  # what is waited for is that nothing happens
            await asyncio.sleep(left)

    def __iter__(self) -> Iterator[TextDocument]:
        return iter(tuple(self._by_uri.values()))

    def find(self, uri: str) -> TextDocument | None:
        """By the client's own string, else by the path it names: clients spell one URI in several ways."""
        if (document := self._by_uri.get(uri)) is not None:
            return document
        path = path_from_uri(uri)
        return None if path is None else self.at(path)

    def at(self, path: Path) -> TextDocument | None:
        """The document at a resolved path; of two (a file and a link to it) the one used last."""
        documents = self._by_path.get(path)
        return documents[-1] if documents else None

    def uri(self, path: Path) -> str:
        """The client's own string where the document is open."""
        document = self.at(path)
        return uri_from_path(path) if document is None else document.uri

    def paths(self) -> tuple[Path, ...]:
        return tuple(self._by_path)

    def did_open(self, params: Mapping[str, Any]) -> None:
        uri, text = find(params, "textDocument.uri"), find(params, "textDocument.text")
        if not isinstance(uri, str) or not isinstance(text, str):
            logger.warning("didOpen without uri or text")
            return
        if uri in self._by_uri:
            logger.warning("didOpen of a document that is open already: %s", uri)
            self._remove(uri)
        language_id = find(params, "textDocument.languageId")
        document = TextDocument(
            uri,
            path_from_uri(uri),
            language_id if isinstance(language_id, str) else "",
            _version(find(params, "textDocument.version")),
            text,
        )
        self._by_uri[uri] = document
        if document.path is not None:
            self._by_path.setdefault(document.path, []).append(document)
        self._tell(Opened(document))

    def did_change(self, params: Mapping[str, Any]) -> None:
        """Stops at a change that cannot be: the version then stays behind, so that no edit is made for such a text."""
        self._last_change = self._clock()
        document, changes = self._known(params, "didChange"), find(params, "contentChanges")
        if document is None or not isinstance(changes, list):
            return
        self._use(document)
        before, document.version = document.version, _version(find(params, "textDocument.version"))
        for change, following in zip(changes, [*changes[1:], None], strict=True):
            try:
                self._change(document, change, goes_on=_is_above(following, change))
            except ValueError as error:
                logger.warning("didChange of %s: %s", document.uri, error)
                document.version = before
                return

    def did_save(self, params: Mapping[str, Any]) -> None:
        if (document := self._known(params, "didSave")) is not None:
            document.touched = False
            self._tell(Saved(document, find(params, "reason") not in SAVED_ALONE))

    def did_close(self, params: Mapping[str, Any]) -> None:
        if (document := self._known(params, "didClose")) is not None:
            self._remove(document.uri)

    def _change(self, document: TextDocument, change: object, *, goes_on: bool) -> None:
        text, span = find(change, "text"), find(change, "range")
        if not isinstance(text, str):
            raise ValueError("a change without text")
        if span is None:
            last = len(document.lines) - 1
            start, end = (0, 0), (last, line_length(document.lines[last]))
        else:
            start, end = (self._position(document, find(span, place)) for place in ("start", "end"))
        if start > end:
            raise ValueError(f"a range that ends before it starts: {start}, {end}")
        from_unit, to_unit = (
            to_client(document.lines[line], character, self.encoding) for line, character in (start, end)
        )
        document.replace(start, end, text)
        self._tell(Change(document, *start, *end, text, document.version, from_unit, to_unit, goes_on))

    def _position(self, document: TextDocument, position: object) -> tuple[int, int]:
        line, character = find(position, "line"), find(position, "character")
        if type(line) is not int or type(character) is not int or line < 0 or character < 0:
            raise ValueError(f"not a position: {position!r}")
        last = len(document.lines) - 1
        if line > last:  # eglot and others mean the end of the document
            return last, line_length(document.lines[last])
        return line, from_client(document.lines[line], character, self.encoding)

    def _known(self, params: object, method: str) -> TextDocument | None:
        uri = find(params, "textDocument.uri")
        document = self._by_uri.get(uri) if isinstance(uri, str) else None
        if document is None:
            logger.warning("%s of a document that is not open: %r", method, uri)
        return document

    def _use(self, document: TextDocument) -> None:
        if document.path is not None and (same := self._by_path[document.path])[-1] is not document:
            same.remove(document)
            same.append(document)

    def _remove(self, uri: str) -> None:
        document = self._by_uri.pop(uri)
        if document.path is not None:
            same = self._by_path[document.path]
            same.remove(document)
            if not same:
                del self._by_path[document.path]
        self._tell(Closed(document))

    def _tell(self, event: DocumentEvent) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # one listener's mistake must not put the text out of step with the editor's
                logger.exception("a listener failed on %s", type(event).__name__)


def _is_above(change: object, other: object) -> bool:
    """Does it end where the other begins, or before that?"""
    places = [find(each, f"range.{place}") for each, place in ((change, "end"), (other, "start"))]
    match [(find(place, "line"), find(place, "character")) for place in places]:
        case [(int(line), int(character)), (int(first), int(at))]:
            return (line, character) <= (first, at)
    return False


def _version(value: object) -> int | None:
    return value if type(value) is int else None
