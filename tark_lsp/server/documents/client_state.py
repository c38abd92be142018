"""What LSP does not provide about the editor: what other servers know, and how to save documents."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.edit_check import ReportedLines, ShownDiagnostics
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.protocol import incoming, lsp_params
from tark_lsp.server.protocol.capabilities import find_value
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.uris import path_from_uri

if TYPE_CHECKING:
    from tark_lsp.tools.language_servers import CodeAnswer, CodeQuestion

log = logging.getLogger(__name__)

SAVED_SECONDS = 1.0
"""How long the didSave can take to arrive after the answer to `tark/save`."""

OUR_SOURCE = "tark"


@dataclass(frozen=True, slots=True)
class SeenDiagnostics:
    """The diagnostics of a file in one `codeAction` request, and the version of its document at that time."""

    diagnostics: tuple[Diagnostic, ...]
    reported: ReportedLines
    version: int | None


class ClientState:
    """One per server. If the client cannot be asked, uses the diagnostics of the last `codeAction` requests."""

    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._seen: dict[Path, SeenDiagnostics] = {}
        self._moment = 0
        self._automatic: set[Path] = set()
        """Files for which the editor sends `codeAction` requests by itself: newer diagnostics can come at any time."""

    def saw_action(self, uri: str, lines: incoming.Range, context: lsp_params.CodeActionContext) -> None:
        """Remember the diagnostics in a `codeAction` request, which are for the lines that it asks about."""
        path = path_from_uri(uri)
        if path is None:
            return
        self._moment += 1
        reported = ReportedLines(self._moment, lines.start.line, lines.end.line + 1)
        self._seen[path] = SeenDiagnostics(read_diagnostics(path, context.diagnostics), reported, self._version(path))
        if context.trigger_kind == lsp_params.AUTOMATIC:
            self._automatic.add(path)

    async def read_shown(self) -> ShownDiagnostics | None:
        """For the check after an edit (`agent.edit_check`). None if they are not known."""
        versions = {document.path: document.version for document in self._documents if document.path is not None}
        if self._connection.client.understands("clientState"):
            found = await self._ask(None)
            return None if found is None else ShownDiagnostics(tuple(found), versions)
        if not self._automatic:
            return None
        seen = {path: self._seen[path] for path in self._automatic if self._seen[path].version == self._version(path)}
        diagnostics = tuple(diagnostic for file in seen.values() for diagnostic in file.diagnostics)
        return ShownDiagnostics(diagnostics, versions, {path: file.reported for path, file in seen.items()})

    async def read_diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        if self._connection.client.understands("clientState") and (found := await self._ask(path)) is not None:
            return found
        paths = self._seen if path is None else [path] if path in self._seen else []
        return [diagnostic for seen in paths for diagnostic in self._seen[seen].diagnostics]

    async def _ask(self, path: Path | None) -> list[Diagnostic] | None:
        params: dict[str, Any] = {"want": ["diagnostics"]}
        if path is not None:
            params["uri"] = self._documents.uri(path)
        try:
            answer = await self._connection.request(incoming.CLIENT_STATE, params)
        except RequestFailed as error:
            log.warning("tark/clientState: %s", error)
            return None
        return _from_state(find_value(answer, "diagnostics"), path)

    async def ask_language_servers(self, question: "CodeQuestion", line: str) -> "CodeAnswer | None":
        """`line` is the text of the question's line."""
        from tark_lsp.server.documents.language_servers import ask_language_servers  # not before a tool asks

        return await ask_language_servers(self._connection, self._documents, question, line)

    def _version(self, path: Path) -> int | None:
        document = self._documents.at(path)
        return None if document is None else document.version

    async def save_documents(self, paths: Sequence[Path]) -> Sequence[Path]:
        if not paths or not self._connection.client.understands("save"):
            return ()
        uris = {self._documents.uri(path): path for path in paths}
        ours = self._documents.our_saves
        ours.update(paths)
        saved: list[Path] = []
        try:
            listed = find_value(await self._connection.request(incoming.SAVE, {"uris": list(uris)}), "saved")
            saved += [uris[uri] for uri in listed if uri in uris] if isinstance(listed, list) else ()
        except RequestFailed as error:
            log.warning("tark/save: %s", error)
        finally:
            ours.difference_update({*paths} - {*saved})
            asyncio.get_running_loop().call_later(SAVED_SECONDS, ours.difference_update, saved)
        return saved

    def unsaved_documents(self, folder: Path) -> Sequence[Path]:
        return [
            document.path
            for document in self._documents
            if document.path is not None and document.path.is_relative_to(folder) and document.dirty
        ]


def read_diagnostics(path: Path, diagnostics: object) -> tuple[Diagnostic, ...]:
    """From LSP's JSON, without Tark's own and malformed diagnostics."""
    if not isinstance(diagnostics, list):
        return ()
    return tuple(
        Diagnostic(
            path,
            line,
            character,
            severity if (severity := find_value(item, "severity")) in (1, 2, 3, 4) else 1,
            message,
            str(find_value(item, "source") or ""),
            str(find_value(item, "code") if find_value(item, "code") is not None else ""),
        )
        for item in diagnostics
        if isinstance(message := find_value(item, "message"), str)
        and isinstance(line := find_value(item, "range.start.line"), int)
        and isinstance(character := find_value(item, "range.start.character"), int)
        and find_value(item, "source") != OUR_SOURCE
    )


def _from_state(value: object, path: Path | None) -> list[Diagnostic]:
    """`tark/clientState` returns `[{uri, diagnostics}]`, or a plain list if one document was asked for."""
    found: list[Diagnostic] = []
    for item in value if isinstance(value, list) else []:
        uri = find_value(item, "uri")
        file = path_from_uri(uri) if isinstance(uri, str) else path
        if file is not None:
            listed = find_value(item, "diagnostics")
            found += read_diagnostics(file, listed if isinstance(listed, list) else [item])
    return found
