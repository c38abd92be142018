"""The documents that are open in the editor, kept in sync with it. Listeners get every change as an event."""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from tark_lsp.workspace.positions import from_client, line_length, to_client
from tark_lsp.workspace.text_document import TextDocument
from tark_lsp.workspace.uris import path_from_uri, uri_from_path

__all__ = [
    "Change",
    "Closed",
    "ContentChange",
    "DocumentEvent",
    "Documents",
    "Opened",
    "Saved",
    "TextDocument",
    "WillSave",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ContentChange:
    """One change as a client sends it: `text` replaces the range from `start` to `end`, or the whole document if None.

    Positions are (line, character in the client's units).
    """

    text: str
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    document: TextDocument


@dataclass(frozen=True, slots=True)
class Change:
    """`text` replaced the range from start to end. Lines and characters count from 0, characters in code points.

    Both positions are in the text before the change; a change of the whole document covers all of it. The event comes
    when the document holds the new text; `version` is the number the client gives to that state.
    """

    document: TextDocument
    start_line: int
    start_character: int
    end_line: int
    end_character: int
    text: str
    version: int | None
    start_units: int = field(default=0, compare=False)
    """`start_character` in the client's units, because it cannot be computed from the text after the change."""
    end_units: int = field(default=0, compare=False)
    """`end_character` in the client's units, for the same reason."""
    continued: bool = field(default=False, compare=False)
    """The next change of the same notification is further up. Then both are parts of one edit, and the text between
    them is not a separate state."""
    last: bool = field(default=True, compare=False)
    """Is it the last change of its notification?"""


@dataclass(frozen=True, slots=True)
class WillSave:
    """The editor is about to save the document. Formatters can change it before that."""

    document: TextDocument


@dataclass(frozen=True, slots=True)
class Saved:
    document: TextDocument
    by_hand: bool = True
    """False if Tark had it saved, or the editor reported an automatic save."""
    certain: bool = False
    """Did the editor report that the user saved it? Many editors do not, so `by_hand` alone only means: maybe."""


@dataclass(frozen=True, slots=True)
class Closed:
    document: TextDocument


DocumentEvent: TypeAlias = Opened | Change | WillSave | Saved | Closed
Listener: TypeAlias = Callable[[DocumentEvent], None]


class Documents:
    """All open documents, by the client's URI and by resolved path.

    `server/documents/sync.py` calls the methods that open, change, save and close a document, for LSP's notifications.
    """

    def __init__(self, encoding: str = "utf-16", clock: Callable[[], float] | None = None) -> None:
        """`clock` is in seconds. The default is the clock of the event loop, by which `wait_for_quiet` sleeps."""
        self.encoding = encoding
        """How positions are encoded (`ClientInfo.position_encoding`); set before the first document is opened."""
        self._clock = clock or _loop_time
        self._last_change = -math.inf
        self._by_uri: dict[str, TextDocument] = {}
        self._by_path: dict[Path, list[TextDocument]] = {}  # the most recently used one is last
        self._listeners: list[Listener] = []
        self.our_saves: set[Path] = set()
        """Files that Tark is having saved: the next save of such a file is not by the user."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every later event, in order, before the next message of the client is read.

        Returns a function that removes the listener.
        """
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    @property
    def idle_for(self) -> float:
        """Seconds since the last change of any document (is the user typing?); inf before the first."""
        return self._clock() - self._last_change

    async def wait_for_quiet(self, seconds: float) -> None:
        """Wait until the user has not typed for this many seconds."""
        while (left := seconds - self.idle_for) > 0:  # noqa: ASYNC110  # it waits for nothing to happen
            await asyncio.sleep(left)

    def __iter__(self) -> Iterator[TextDocument]:
        return iter(tuple(self._by_uri.values()))

    def find_document(self, uri: str) -> TextDocument | None:
        """Look up by the client's own string, then by its path, because a client can spell one URI in several ways."""
        if (document := self._by_uri.get(uri)) is not None:
            return document
        path = path_from_uri(uri)
        return None if path is None else self.at(path)

    def at(self, path: Path) -> TextDocument | None:
        """The document at a resolved path. If there are two (a file and a link to it), the most recently used one."""
        documents = self._by_path.get(path)
        return documents[-1] if documents else None

    def uri(self, path: Path) -> str:
        """The client's own string if the document is open."""
        document = self.at(path)
        return uri_from_path(path) if document is None else document.uri

    def paths(self) -> tuple[Path, ...]:
        return tuple(self._by_path)

    def open_document(self, uri: str, language_id: str, version: int | None, text: str) -> None:
        if uri in self._by_uri:
            logger.warning("didOpen of a document that is already open: %s", uri)
            self.close_document(uri)
        document = TextDocument(uri, path_from_uri(uri), language_id, version, text)
        self._by_uri[uri] = document
        if document.path is not None:
            self._by_path.setdefault(document.path, []).append(document)
        self._emit(Opened(document))

    def change_document(
        self, uri: str, version: int | None, changes: Sequence[ContentChange], *, problem: str = ""
    ) -> None:
        """Apply the changes of one notification, in order.

        `problem`: why the change after these is malformed. This, or a range that ends before it starts, ends the
        notification. The version then stays as it was, so that no edit is made for a text that is not the client's.
        """
        self._last_change = self._clock()
        document = self._open_document(uri, "didChange")
        if document is None:
            return
        if document.path is not None:  # it is the most recently used one of its path now
            same = self._by_path[document.path]
            same.append(same.pop(same.index(document)))
        before, document.version = document.version, version
        try:
            for change, following in zip(changes, [*changes[1:], None], strict=True):
                made = _apply_change(document, change, self.encoding)
                self._emit(replace(made, continued=_is_above(following, change), last=following is None))
            if problem:
                raise ValueError(problem)
        except ValueError as error:
            logger.warning("didChange of %s: %s", document.uri, error)
            document.version = before

    def will_save_document(self, uri: str, reason: object = None) -> None:
        if (document := self._open_document(uri, "willSave")) is not None:
            document.save_reason = reason
            self._emit(WillSave(document))

    def announced_reason(self, uri: str) -> object:
        """What the last `willSave` said, if there was no `didSave` since then."""
        document = self._by_uri.get(uri)
        return None if document is None else document.save_reason

    def save_document(self, uri: str, *, by_hand: bool = True, certain: bool = False) -> None:
        if (document := self._open_document(uri, "didSave")) is not None:
            document.touched, document.save_reason = False, None
            if document.path in self.our_saves:
                by_hand = certain = False
                self.our_saves.discard(document.path)
            self._emit(Saved(document, by_hand, certain))

    def close_document(self, uri: str) -> None:
        if (document := self._open_document(uri, "didClose")) is None:
            return
        del self._by_uri[uri]
        if document.path is not None:
            same = self._by_path[document.path]
            same.remove(document)
            if not same:
                del self._by_path[document.path]
        self._emit(Closed(document))

    def _open_document(self, uri: str, method: str) -> TextDocument | None:
        document = self._by_uri.get(uri)
        if document is None:
            logger.warning("%s of a document that is not open: %r", method, uri)
        return document

    def _emit(self, event: DocumentEvent) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # a bug in one listener must not put the text out of sync with the editor's
                logger.exception("a listener failed on %s", type(event).__name__)


def _apply_change(document: TextDocument, change: ContentChange, encoding: str) -> Change:
    """Raises ValueError for a range that ends before it starts."""
    if change.start is None or change.end is None:
        last = len(document.lines) - 1
        start, end = (0, 0), (last, line_length(document.lines[last]))
    else:
        start, end = (_in_code_points(document, place, encoding) for place in (change.start, change.end))
    if start > end:
        raise ValueError(f"a range that ends before it starts: {start}, {end}")
    from_unit, to_unit = (to_client(document.lines[line], character, encoding) for line, character in (start, end))
    document.replace(start, end, change.text)
    return Change(document, *start, *end, change.text, document.version, from_unit, to_unit)


def _in_code_points(document: TextDocument, position: tuple[int, int], encoding: str) -> tuple[int, int]:
    line, character = position
    last = len(document.lines) - 1
    if line > last:  # eglot and others mean the end of the document
        return last, line_length(document.lines[last])
    return line, from_client(document.lines[line], character, encoding)


def _is_above(change: ContentChange | None, other: ContentChange) -> bool:
    """Does it end at or before the start of the other?"""
    if change is None or change.end is None or other.start is None:
        return False
    return change.end <= other.start


def _loop_time() -> float:
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:  # no loop runs: its clock is the same by default
        return time.monotonic()
