"""The user's last selection outside chats: as the client reports it, else from the last `codeAction` request."""

import logging
from typing import Any

from pydantic import ValidationError

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.capabilities import find_value
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.text_document import is_chat, is_prompt
from tark_lsp.workspace.uris import path_from_uri

log = logging.getLogger(__name__)

Selected = tuple[incoming.DocumentId, incoming.Range]


class Selections:
    def __init__(self, connection: Connection, documents: Documents, targets: Targets) -> None:
        self._connection = connection
        self._documents = documents
        self._targets = targets
        self._action: Selected | None = None
        self._selection: Selected | None = None

    def saw_action(self, uri: str, selected: incoming.Range) -> None:
        """Remember the range of a `codeAction` request, with the version of its document."""
        document = self._documents.find_document(uri)
        if document is None:
            return
        self._action = incoming.DocumentId(uri=document.uri, version=document.version), selected
        if not (is_chat(document.path) or is_prompt(uri) or _is_caret(selected)):
            self._selection = self._action

    def last_action(self) -> Selected | None:
        """The selection for a command without a document. None if its document is closed."""
        action = self._action
        return action if action is not None and self._documents.find_document(action[0].uri) is not None else None

    async def last_selection(self) -> Target | None:
        """The last selection in the current text. Raises RequestError if the user has changed it since."""
        selected = await self._ask_client() or self._selection
        return None if selected is None else await self._targets.find_target(*selected)

    async def _ask_client(self) -> Selected | None:
        """`tark/clientState` answers `{selection: {uri, version?, range}}`, or null if there is none."""
        if not self._connection.client.understands("clientState"):
            return None
        try:
            answer: Any = await self._connection.request(incoming.CLIENT_STATE, {"want": ["selection"]})
            selection = find_value(answer, "selection")
            if selection is None:
                return None
            document = incoming.DocumentId.model_validate(selection)
            selected = incoming.Range.model_validate(find_value(selection, "range"))
        except (RequestFailed, ValidationError) as error:
            log.warning("tark/clientState: %s", error)
            return None
        if _is_caret(selected) or is_chat(path_from_uri(document.uri)) or is_prompt(document.uri):
            return None
        return document, selected


def _is_caret(selected: incoming.Range) -> bool:
    """At most one character: Helix and Kakoune always select at least one."""
    return selected.start.line == selected.end.line and selected.end.character - selected.start.character <= 1
