"""The server's client of the index process: asks it questions, and reports changes to it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tark_lsp.index.child_process import MOST_BYTES
from tark_lsp.index.delayed_texts import DelayedTexts
from tark_lsp.index.json_values import from_json, item_type, question_to_json
from tark_lsp.index.model import Found
from tark_lsp.index.questions import Question
from tark_lsp.index.status import IndexStatus
from tark_lsp.index.supervisor import IndexSupervisor, MayIndex

T = TypeVar("T")

ANSWER_SECONDS = 10.0


class IndexClient:
    """A CodeIndex. Call all methods on the event loop's thread.

    `folders`: the absolute paths of the workspace's folders. `cache`: the folder of all indexes
    (`folders.indexes_folder()`). `may_index` decides about files in batches of 200, before they are read.
    `most_bytes`: size limit of the index on disk.
    """

    def __init__(
        self, folders: Sequence[Path], cache: Path, may_index: MayIndex, *, most_bytes: int = MOST_BYTES
    ) -> None:
        self._process = IndexSupervisor(folders, cache, may_index, most_bytes)
        self._process.begun.listen(lambda _: self._tell_all())
        self._embedder = ""
        self._texts = DelayedTexts(self._process.send)
        self._process.ended_by.listen(self._texts.read_plainly)

    @property
    def process_id(self) -> int | None:
        """The id of the index process; None if it is not running."""
        return self._process.process_id

    async def start(self) -> None:
        """Start the index process, which builds or updates the index. Raises ToolError if it cannot be started."""
        await self._process.start()

    async def close(self) -> None:
        """End the index process within 500 ms. The index stays on disk."""
        self._texts.close()
        await self._process.close()

    async def status(self) -> IndexStatus:
        return self._process.status

    async def ask(self, question: Question[T]) -> Found[T]:
        """Raises ToolError: `timeout` after 10 s, `unsupported` if the index process is not running."""
        self._texts.send_now()
        answer = await self._process.request({"do": "ask", **question_to_json(question)}, ANSWER_SECONDS)
        kind = item_type(question)
        items = tuple(from_json(kind, item) for item in answer["items"])
        return Found(items, answer["share"], answer["complete"], tuple(answer["notes"]))

    def listen(self, listener: Callable[[IndexStatus], None]) -> None:
        """Call `listener` when the status changes, at most 5 times a second."""
        self._process.shown.listen(listener)

    def show_text(self, path: Path, text: str | None) -> None:
        """Answer from this text of an open document instead of its file. None: it is closed, or equals its file."""
        self._texts.show(path, text)

    def files_changed(self, paths: Sequence[Path]) -> None:
        """Report files or folders that were saved, created, removed or renamed."""
        if paths:
            self._process.send({"do": "changed", "paths": [*map(str, paths)]})

    def rescan(self) -> None:
        """Schedule a comparison of all files with the index."""
        self._process.send({"do": "rescan"})

    def use_vectors(self, embedder: str) -> None:
        """Set which embedder's vectors the search uses: `static`, an embedder of the server, or empty for none."""
        self._embedder = embedder
        self._process.send({"do": "vectors", "embedder": embedder})

    def rules_changed(self) -> None:
        """Ask `may_index` again for all files."""
        self._process.send({"do": "rules"})
        self._texts.send_again()  # the process dropped the texts that it was not allowed to index before

    async def rebuild(self) -> None:
        """Remove the index and rebuild it. Returns when the rebuild has begun."""
        self._process.deaths.clear()
        await self._process.request({"do": "rebuild"}, ANSWER_SECONDS)

    async def settle(self, seconds: float) -> None:
        """Wait until all known changes are indexed. Raises ToolError `timeout`."""
        self._texts.send_now()
        await self._process.request({"do": "settle"}, seconds)

    def _tell_all(self) -> None:
        """Send all state to a new process."""
        if self._embedder:
            self.use_vectors(self._embedder)
        self._texts.send_again()
