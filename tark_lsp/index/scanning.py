"""Lists the files of the workspace, and finds those for a query, with ripgrep in a thread with its own event loop."""

import asyncio
import os
import re
import stat
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from tark_lsp.errors import ToolError
from tark_lsp.index.file_rows import Seen
from tark_lsp.workspace.search.ripgrep import SearchScope, list_files
from tark_lsp.workspace.search.search_program import SearchProgram, run_search

MOST_FILES = 1_000_000
FIRST_FILES = 60
"""The maximum number of files that are read before a question is answered."""
MOST_OUTPUT = 4_000_000
"""Bytes of ripgrep's output that are read to find the first files for a question."""
HEADS = (
    r"(?:def|class|fn|func|fun|function|struct|enum|union|interface|trait|impl|type|typedef|module|namespace|object"
    r"|record|protocol|macro_rules!|#define|const|let|var|val|public|private|protected|static|async)\s+"
)
"""Keywords before the name of a definition in most languages."""
SHORTEST_WORD = 3


class Scanner:
    """`scan` and `first_files` can be called on any thread."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._program = SearchProgram.find_installed(folders)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scanner", daemon=True)
        self._thread.start()

    def scan(self, then: Callable[[list[Seen] | ToolError], None]) -> None:
        """List all files, then call `then` in another thread with the files or the error."""

        def tell(future: Future[list[Seen]]) -> None:
            if future.cancelled():
                return
            error = future.exception()
            if error is None:
                then(future.result())
            elif isinstance(error, ToolError):
                then(error)
            else:
                then(ToolError("internal", f"the files could not be listed: {error}"))

        asyncio.run_coroutine_threadsafe(list_all(self._program, self._folders), self._loop).add_done_callback(tell)

    def first_files(self, words: Sequence[str], names: Sequence[str], seconds: float) -> list[str]:
        """The files that probably define what a question is about, most likely ones first. `seconds`: time limit."""
        words = [re.escape(word) for word in words if len(word) >= SHORTEST_WORD]
        names = [re.escape(name) for name in names if len(name) >= SHORTEST_WORD]
        if not words and not names:
            return []
        future = asyncio.run_coroutine_threadsafe(self._look(words, names, seconds), self._loop)
        return future.result()

    def close(self) -> None:
        """End the running programs. Takes at most 300 ms."""

        async def end_others() -> None:
            others = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end_others(), self._loop).result(0.4)

    async def _look(self, words: Sequence[str], names: Sequence[str], seconds: float) -> list[str]:
        """Search for lines where a definition with some of the words seems to begin, and for lines with the names."""
        pieces: list[bytes] = []
        size = 0

        def collect(data: bytes) -> bool:
            nonlocal size
            pieces.append(data)
            size += len(data)
            return size < MOST_OUTPUT

        patterns = [f"{HEADS}\\w*(?:{'|'.join(words)})\\w*"] if words else []
        patterns += [rf"\b(?:{'|'.join(names)})\b"] if names else []
        options = [
            "--ignore-case",
            "--with-filename",
            "--no-heading",
            "--max-columns=500",
            f"--regexp={'|'.join(patterns)}",
        ]
        try:
            async with asyncio.timeout(seconds):
                await run_search(self._program, options, self._folders, collect)
        except (TimeoutError, ToolError):
            pass  # use what was found until then
        return _likely(b"".join(pieces), [*words, *names])


async def list_all(program: SearchProgram, folders: Sequence[Path]) -> list[Seen]:
    """All files that are not ignored. Raises ToolError, also if there are too many."""
    paths, complete = await list_files(program, SearchScope(tuple(folders)), limit=MOST_FILES)
    if not complete:
        raise ToolError("too_large", f"the workspace has more than {MOST_FILES:,} files")
    return await asyncio.to_thread(_stat_all, paths)


def _likely(output: bytes, words: Sequence[str]) -> list[str]:
    """Rank files by the most words in one of their lines, then by their number of lines. At most `FIRST_FILES`."""
    scores: defaultdict[bytes, tuple[int, int]] = defaultdict(lambda: (0, 0))
    wanted = [word.lower().replace("\\", "").encode() for word in words]
    head = re.compile(HEADS.encode())
    for line in output.split(b"\n"):
        path, separator, text = line.partition(b"\0")
        if separator:
            lower = text.lower()
            count = sum(word in lower for word in wanted)
            best, lines = scores[path]
            scores[path] = (max(best, 2 * count + (1 if head.search(lower) else 0)), lines + 1)
    ranked = sorted(scores, key=lambda path: scores[path], reverse=True)
    return [os.fsdecode(path) for path in ranked[:FIRST_FILES]]


def _stat_all(paths: Sequence[str]) -> list[Seen]:
    found = []
    for path in paths:
        if (seen := look_at(path)) is not None:
            found.append(seen)
    return found


def look_at(path: str) -> Seen | None:
    """None if there is no regular file at this path."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return Seen(path, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None
