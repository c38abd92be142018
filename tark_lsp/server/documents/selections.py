"""What the person selected last outside of the chats: as the client tells it, else as the last codeAction did."""

import logging
from typing import Any

from pydantic import ValidationError

from tark_lsp.server import protocol
from tark_lsp.server.capabilities import find
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.documents.text_document import is_chat, is_prompt
from tark_lsp.server.documents.uris import path_from_uri

log = logging.getLogger(__name__)


class Selections:
    def __init__(self, connection: Connection, documents: Documents, targets: Targets) -> None:
        self._connection = connection
        self._documents = documents
        self._targets = targets
        self._seen: tuple[protocol.DocumentId, protocol.Range] | None = None

    def saw(self, uri: str, selected: protocol.Range) -> None:
        """The range of a codeAction request; a caret is no selection, and a chat's own text is not meant."""
        document = self._documents.find(uri)
        if document is None or is_chat(document.path) or is_prompt(uri):
            return
        if not _is_caret(selected):
            self._seen = protocol.DocumentId(uri=document.uri, version=document.version), selected

    async def last(self) -> Target | None:
        """Where it is now. Raises RequestError where the person has changed it since."""
        told = await self._told() or self._seen
        return None if told is None else await self._targets.find(*told)

    async def _told(self) -> tuple[protocol.DocumentId, protocol.Range] | None:
        """`tark/clientState` answers `{selection: {uri, version?, range}}`, or null for none."""
        if not self._connection.client.understands("clientState"):
            return None
        try:
            answer: Any = await self._connection.request(protocol.CLIENT_STATE, {"want": ["selection"]})
            selection = find(answer, "selection")
            if selection is None:
                return None
            document = protocol.DocumentId.model_validate(selection)
            selected = protocol.Range.model_validate(find(selection, "range"))
        except (RequestFailed, ValidationError) as error:
            log.warning("tark/clientState: %s", error)
            return None
        if _is_caret(selected) or is_chat(path_from_uri(document.uri)) or is_prompt(document.uri):
            return None
        return document, selected


def _is_caret(selected: protocol.Range) -> bool:
    """At most one character: Helix and Kakoune select no less."""
    return selected.start.line == selected.end.line and selected.end.character - selected.start.character <= 1
