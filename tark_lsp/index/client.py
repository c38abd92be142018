"""The index of a workspace as the server has it: it starts and asks the index process, and restarts it if it dies."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tark_lsp.errors import ToolError
from tark_lsp.index.cache_folder import workspace_cache
from tark_lsp.index.child_process import MOST_BYTES, ChildEnded, ChildProcess, Message
from tark_lsp.index.json_values import from_json, item_type, question_to_json
from tark_lsp.index.model import Found, IndexState, IndexStatus
from tark_lsp.index.questions import Question
from tark_lsp.listeners import Listeners

log = logging.getLogger(__name__)

T = TypeVar("T")

ANSWER_SECONDS = 10.0
TYPING_SECONDS = 0.15
"""The text of an open document is sent when nothing was typed for this long, or when something is asked."""
STATUS_SECONDS = 0.2
"""Listeners hear of a new status at most this often."""
DEATHS_SECONDS = 60.0
FRESH_AFTER = 3
"""After so many deaths within `DEATHS_SECONDS`, the index is built from nothing: what is stored may be the cause."""
MOST_DEATHS = 4
JUDGED_AT_ONCE = 20
"""Files, before the event loop does something else."""

MayIndex = Callable[[Sequence[Path]], Sequence[bool]]


class IndexClient:
    """A CodeIndex. All methods are for the event loop's thread.

    `folders` are the absolute paths of the workspace's folders, `cache` is the folder of all indexes
    (`folders.indexes_folder()`). `may_index` is asked about files in batches of 200, before they are read.
    `most_bytes`: of the index on disk.
    """

    def __init__(
        self, folders: Sequence[Path], cache: Path, may_index: MayIndex, *, most_bytes: int = MOST_BYTES
    ) -> None:
        self._folders = tuple(folders)
        self._cache = workspace_cache(cache, folders)
        self._may_index = may_index
        self._most_bytes = most_bytes
        self._child: ChildProcess | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._status = IndexStatus(IndexState.OFF, reason="it has not been started")
        self._listeners: Listeners[IndexStatus] = Listeners()
        self._telling: asyncio.TimerHandle | None = None
        self._embedder = ""
        self._texts: dict[Path, str] = {}
        self._unsent: dict[Path, asyncio.TimerHandle] = {}
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS)
        self._parsing = ""
        """The open document whose text the process parses now."""
        self._plain: set[Path] = set()
        """Open documents whose text has ended the process: until they are closed, no grammar reads them."""
        self._restarting: asyncio.Task[None] | None = None
        self._judging: asyncio.Task[None] | None = None

    @property
    def process_id(self) -> int | None:
        """Of the index process; None if it does not run."""
        return self._child.process_id if self._child is not None and self._child.is_running else None

    async def start(self) -> None:
        """Start the index process; it builds or updates the index by itself. Raises ToolError if it cannot."""
        self._closed = False
        async with self._starting:
            if self._child is None or not self._child.is_running:
                await self._spawn(fresh=False)

    async def close(self) -> None:
        """End the index process within 500 ms. What is indexed stays on disk."""
        self._closed = True
        for handle in (*self._unsent.values(), *([self._telling] if self._telling else [])):
            handle.cancel()
        self._unsent.clear()
        self._telling = None
        if self._judging is not None:
            self._judging.cancel()
        if self._restarting is not None:
            self._restarting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._restarting
        child, self._child = self._child, None
        if child is not None:
            await child.close()
        self._status = IndexStatus(IndexState.OFF, reason="it has been closed")

    async def status(self) -> IndexStatus:
        return self._status

    async def ask(self, question: Question[T]) -> Found[T]:
        """Raises ToolError: `timeout` after 10 s, `unsupported` if the index process does not run."""
        answer = await self._request({"do": "ask", **question_to_json(question)})
        kind = item_type(question)
        items = tuple(from_json(kind, item) for item in answer["items"])
        return Found(items, answer["share"], answer["complete"], tuple(answer["notes"]))

    def listen(self, listener: Callable[[IndexStatus], None]) -> None:
        """Call `listener` when the status changes, at most 5 times a second."""
        self._listeners.listen(listener)

    def show_text(self, path: Path, text: str | None) -> None:
        """Answer by this text of an open document instead of its file. None: it is closed, or equal to its file."""
        if text is None:
            self._plain.discard(path)
            if (handle := self._unsent.pop(path, None)) is not None:
                handle.cancel()
            if self._texts.pop(path, None) is not None:
                self._send({"do": "text", "path": str(path), "text": None, "plain": False})
            return
        self._texts[path] = text
        if path in self._unsent:
            self._unsent[path].cancel()
        self._unsent[path] = asyncio.get_running_loop().call_later(TYPING_SECONDS, self._send_text, path)

    def files_changed(self, paths: Sequence[Path]) -> None:
        """Files or folders were saved, created, removed or renamed."""
        if paths:
            self._send({"do": "changed", "paths": [*map(str, paths)]})

    def rescan(self) -> None:
        """Compare all files with what is indexed, soon."""
        self._send({"do": "rescan"})

    def use_vectors(self, embedder: str) -> None:
        """Whose dense vectors the search uses: `static`, the name of an embedder of the server, or empty for none."""
        self._embedder = embedder
        self._send({"do": "vectors", "embedder": embedder})

    def rules_changed(self) -> None:
        """Ask `may_index` again for all files."""
        self._send({"do": "rules"})

    async def rebuild(self) -> None:
        """Remove what is indexed and begin again. Returns when the building has begun."""
        self._deaths.clear()
        await self._request({"do": "rebuild"})

    async def settle(self, seconds: float) -> None:
        """Wait until everything is indexed that is known to have changed. Raises ToolError `timeout`."""
        await self._request({"do": "settle"}, seconds)

    async def _request(self, message: Message, seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
        for path in [*self._unsent]:
            self._send_text(path)
        for is_last in (False, True):
            try:
                child = await self._running()
                return dict(await child.request(message, seconds))
            except TimeoutError:
                raise ToolError(
                    "timeout",
                    f"the code index did not answer within {seconds:g} s",
                    hint="use search_text, or ask again later",
                ) from None
            except ChildEnded as error:
                if is_last:
                    raise ToolError(
                        "internal", f"the index process failed twice: {error}", hint="use search_text and read_file"
                    ) from error
        raise AssertionError("unreachable")

    async def _running(self) -> ChildProcess:
        async with self._starting:
            if self._child is not None and self._child.is_running:
                return self._child
            if self._closed or self._status.state is IndexState.OFF:
                raise ToolError(
                    "unsupported", "the code index does not run", hint="use search_text and read_file instead"
                )
            deaths = self._recent_deaths()
            if deaths >= MOST_DEATHS:
                raise ToolError("unsupported", self._status.reason, hint="use search_text and read_file instead")
            return await self._spawn(fresh=deaths >= FRESH_AFTER)

    def _recent_deaths(self) -> int:
        now = time.monotonic()
        return sum(now - death < DEATHS_SECONDS for death in self._deaths)

    async def _spawn(self, *, fresh: bool) -> ChildProcess:
        child = ChildProcess(self._receive, self._ended)
        try:
            await child.start(self._folders, self._cache, most_bytes=self._most_bytes, fresh=fresh)
        except OSError as error:
            self._show(IndexStatus(IndexState.FAILED, reason=f"the index process cannot be started: {error}"))
            raise ToolError("internal", self._status.reason, hint="use search_text and read_file") from error
        self._child = child
        self._show(IndexStatus(IndexState.BUILDING))
        if self._embedder:
            self.use_vectors(self._embedder)
        for path in self._texts:
            self._send_text(path)
        return child

    def _ended(self, how: str) -> None:
        culprit, self._parsing = self._parsing, ""
        if culprit and Path(culprit) not in self._plain:
            self._plain.add(Path(culprit))
        else:
            self._deaths.append(time.monotonic())
        if self._closed:
            return
        if self._recent_deaths() >= MOST_DEATHS:
            failed = f"the index process failed {MOST_DEATHS} times within a minute ({how}); it is tried again later"
            self._show(IndexStatus(IndexState.FAILED, reason=failed))
            return
        self._restarting = asyncio.get_running_loop().create_task(self._restart())

    async def _restart(self) -> None:
        with contextlib.suppress(ToolError):  # the status says it
            await self._running()

    def _send(self, message: Message) -> None:
        if self._child is not None:
            self._child.send(message)

    def _send_text(self, path: Path) -> None:
        if (handle := self._unsent.pop(path, None)) is not None:
            handle.cancel()
        if path in self._texts:
            text, plain = self._texts[path], path in self._plain
            self._send({"do": "text", "path": str(path), "text": text, "plain": plain})

    def _receive(self, message: Message) -> None:
        if "may" in message and self._child is not None:
            self._judging = asyncio.get_running_loop().create_task(self._judge(self._child, message))
        elif "parsing" in message:
            self._parsing = message["parsing"]
        elif "blamed" in message and self._deaths:
            self._deaths.pop()  # a file was the cause, which is skipped after its second death
        elif "status" in message:
            self._show(from_json(IndexStatus, message["status"]))

    async def _judge(self, child: ChildProcess, message: Message) -> None:
        """Answer which of these files may be indexed. In small steps: rules can take a millisecond for ten files."""
        paths = [Path(path) for path in message["may"]]
        answers: list[bool] = []
        for start in range(0, len(paths), JUDGED_AT_ONCE):
            some = paths[start : start + JUDGED_AT_ONCE]
            try:
                answers += map(bool, self._may_index(some))
            except Exception:  # logged; what cannot be judged is not indexed
                log.exception("rules of %d files", len(some))
                answers += [False] * len(some)
            await asyncio.sleep(0)
        child.send({"do": "may", "id": message["id"], "answers": answers})

    def _show(self, status: IndexStatus) -> None:
        if status != self._status:
            self._status = status
            if self._telling is None:
                self._telling = asyncio.get_running_loop().call_later(STATUS_SECONDS, self._tell)

    def _tell(self) -> None:
        self._telling = None
        self._listeners.emit(self._status)
