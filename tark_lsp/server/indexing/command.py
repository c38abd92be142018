"""`tark.index.*`: show the status of the index, and rebuild it."""

from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import RequestError, ToolError
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.prose import prose_line
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.commands import Command
from tark_lsp.server.indexing.workspace_index import WorkspaceIndex
from tark_lsp.server.protocol import command_payloads


class IndexCommands:
    def __init__(self, index: WorkspaceIndex, show: TextDisplay) -> None:
        self._index = index
        self._show = show

    def commands(self) -> Iterable[Command]:
        yield Command("tark.index.status", command_payloads.Nothing, self.status)
        yield Command("tark.index.rebuild", command_payloads.Nothing, self.rebuild)

    async def status(self, _: command_payloads.Nothing) -> dict[str, Any]:
        """Does not start the index process."""
        status = await self._index.status()
        await self._show.command_result("index", f"# Code index\n\n{prose_line(status_line(status))}\n")
        return status_json(status)

    async def rebuild(self, _: command_payloads.Nothing) -> dict[str, Any]:
        """Answers when the rebuild has begun. Raises RequestError if there is no index."""
        try:
            await self._index.rebuild()
        except ToolError as error:
            raise RequestError(f"the index is not built: {error.message}") from error
        return status_json(await self._index.status())


def status_json(status: IndexStatus) -> dict[str, Any]:
    """The status in the format for clients (protocol.md)."""
    return {
        "state": status.state.value,
        "files": status.files,
        "indexed": status.indexed,
        "chunks": status.chunks,
        "definitions": status.definitions,
        "bytesOnDisk": status.bytes_on_disk,
        "vectors": status.vectors,
        "reason": status.reason,
        "skipped": dict(status.skipped),
    }


def status_line(status: IndexStatus) -> str:
    """The status as one line for the user."""
    reason = f": {status.reason}" if status.reason else ""
    if status.state is IndexState.OFF:
        return f"off{reason}"
    done = f"{status.indexed:,} of {status.files:,} files, {status.definitions:,} definitions, {status.chunks:,} chunks"
    return f"{status.state}, {done}, {status.bytes_on_disk / 1e6:.1f} MB, {status.vectors or 'lexical only'}{reason}"
