"""What the editor knows and LSP does not tell a server: other servers' diagnostics, saving (`tools.tool.Editor`)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tark_lsp.agent.gate import Glimpse, Sight
from tark_lsp.server import protocol
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.capabilities import find
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.uris import path_from_uri
from tark_lsp.tools.tool import Diagnostic, Option

log = logging.getLogger(__name__)

OUR_SOURCE = "tark"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one `codeAction` context told of a file, and the version of its document by then."""

    diagnostics: tuple[Diagnostic, ...]
    glimpse: Glimpse
    version: int | None


class ClientState:
    """One per server. Diagnostics last seen in a codeAction context stand in where the client cannot be asked."""

    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._seen: dict[Path, Seen] = {}
        self._moment = 0
        self._unasked: set[Path] = set()
        """Files of which the editor sends contexts on its own: there a newer one may come by itself."""

    def saw_diagnostics(self, path: Path, lines: protocol.Range, context: protocol.CodeActionContext) -> None:
        """What a `codeAction` request tells of the lines it asks about."""
        self._moment += 1
        glimpse = Glimpse(self._moment, lines.start.line, lines.end.line + 1)
        self._seen[path] = Seen(read_diagnostics(path, context.diagnostics), glimpse, self._version(path))
        if context.trigger_kind == protocol.AUTOMATIC:
            self._unasked.add(path)

    async def look(self) -> Sight | None:
        """For the post-edit gate (`agent.gate.Watch`)."""
        versions = {document.path: document.version for document in self._documents if document.path is not None}
        if self._connection.client.understands("clientState"):
            found = await self._ask(None)
            return None if found is None else Sight(tuple(found), versions)
        if not self._unasked:
            return None
        seen = {path: self._seen[path] for path in self._unasked if self._seen[path].version == self._version(path)}
        diagnostics = tuple(diagnostic for each in seen.values() for diagnostic in each.diagnostics)
        return Sight(diagnostics, versions, {path: each.glimpse for path, each in seen.items()})

    async def diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        if self._connection.client.understands("clientState") and (found := await self._ask(path)) is not None:
            return found
        paths = self._seen if path is None else [path] if path in self._seen else []
        return [diagnostic for each in paths for diagnostic in self._seen[each].diagnostics]

    async def _ask(self, path: Path | None) -> list[Diagnostic] | None:
        params: dict[str, Any] = {"want": ["diagnostics"]}
        if path is not None:
            params["uri"] = self._documents.uri(path)
        try:
            answer = await self._connection.request(protocol.CLIENT_STATE, params)
        except RequestFailed as error:
            log.warning("tark/clientState: %s", error)
            return None
        return _from_state(find(answer, "diagnostics"), path)

    def _version(self, path: Path) -> int | None:
        document = self._documents.at(path)
        return None if document is None else document.version

    async def save(self, paths: Sequence[Path]) -> Sequence[Path]:
        if not paths or not self._connection.client.understands("save"):
            return ()
        uris = {self._documents.uri(path): path for path in paths}
        try:
            answer = await self._connection.request(protocol.SAVE, {"uris": list(uris)})
        except RequestFailed as error:
            log.warning("tark/save: %s", error)
            return ()
        saved = find(answer, "saved")
        return [uris[uri] for uri in saved if uri in uris] if isinstance(saved, list) else ()

    def unsaved(self, folder: Path) -> Sequence[Path]:
        return [
            document.path
            for document in self._documents
            if document.path is not None and document.path.is_relative_to(folder) and document.dirty
        ]


class TurnEditor:
    """The editor as the tools of one turn see it: questions carry the turn's ids."""

    def __init__(self, state: ClientState, inputs: Inputs, turn_id: str, session_id: str) -> None:
        self._state = state
        self._inputs = inputs
        self._ids = (turn_id, session_id)

    async def diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        return await self._state.diagnostics(path)

    async def ask(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        multiple: bool = False,
        free_text: bool = True,
        by_model: bool = False,
    ) -> str | list[str] | None:
        return await self._inputs.ask(*self._ids, question, options, multiple, free_text, by_model)

    async def save(self, paths: Sequence[Path]) -> Sequence[Path]:
        return await self._state.save(paths)

    def unsaved(self, folder: Path) -> Sequence[Path]:
        return self._state.unsaved(folder)


def read_diagnostics(path: Path, diagnostics: object) -> tuple[Diagnostic, ...]:
    """From LSP's JSON; our own, and what is no diagnostic, is left out."""
    if not isinstance(diagnostics, list):
        return ()
    return tuple(
        Diagnostic(
            path,
            line,
            character,
            severity if (severity := find(each, "severity")) in (1, 2, 3, 4) else 1,
            message,
            str(find(each, "source") or ""),
            str(find(each, "code") if find(each, "code") is not None else ""),
        )
        for each in diagnostics
        if isinstance(message := find(each, "message"), str)
        and isinstance(line := find(each, "range.start.line"), int)
        and isinstance(character := find(each, "range.start.character"), int)
        and find(each, "source") != OUR_SOURCE
    )


def _from_state(value: object, path: Path | None) -> list[Diagnostic]:
    """`tark/clientState` gives `[{uri, diagnostics}]`, or a bare list where one document was asked for."""
    found: list[Diagnostic] = []
    for each in value if isinstance(value, list) else []:
        uri = find(each, "uri")
        where = path_from_uri(uri) if isinstance(uri, str) else path
        if where is not None:
            listed = find(each, "diagnostics")
            found += read_diagnostics(where, listed if isinstance(listed, list) else [each])
    return found
