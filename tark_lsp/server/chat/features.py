"""LSP requests about chat documents: actions, lenses, completion, folds, symbols, links, definitions.

The answer is empty for other documents, because some clients can only register these features for all documents.
"""

import logging
from collections.abc import Callable
from itertools import islice
from typing import Any

from lsprotocol import types

from tark_lsp.errors import WorkspaceError
from tark_lsp.server.chat.chats import OpenChats
from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.chat.links import Link, find_links, resolve
from tark_lsp.server.chat.outline import flat, folds, symbols
from tark_lsp.server.chat.slash_completion import SlashCompletion
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.connection.server import TarkServer
from tark_lsp.server.protocol import lsp_params
from tark_lsp.server.protocol.capabilities import CHAT_FEATURES, is_announced, is_dynamic
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.workspace.documents import Documents, TextDocument
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import count_lines
from tark_lsp.workspace.positions import from_client, to_client
from tark_lsp.workspace.text_document import CHAT_ENDING, is_chat, is_prompt
from tark_lsp.workspace.uris import uri_from_path

log = logging.getLogger(__name__)

Json = dict[str, Any]
MOST_LINKED = 1_000_000
"""How many characters of a chat are searched for links. Beyond this, go to definition still follows each link."""
MOST_LINKS = 1_000
"""How many links of a chat are resolved for the list."""


class ChatFeatures:
    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        workspace: Workspace,
        chats: OpenChats,
        completion: Completion,
        slash: SlashCompletion,
    ) -> None:
        self._connection = connection
        self._documents = documents
        self._workspace = workspace
        self._chats = chats
        self._completion = completion
        self._slash = slash

    async def register(self) -> None:
        """Register these features only for chat documents, if the client supports that."""
        client = self._connection.client
        selector = [{"scheme": "file", "pattern": f"**/*{CHAT_ENDING}"}]
        registrations = [
            {
                "id": f"tark-chat-{feature}",
                "method": f"textDocument/{feature}",
                "registerOptions": {"documentSelector": selector, **(options if isinstance(options, dict) else {})},
            }
            for feature, (_, options) in CHAT_FEATURES.items()
            if is_announced(client.name, feature) and is_dynamic(client.capabilities, feature)
        ]
        if registrations:
            try:
                await self._connection.request("client/registerCapability", {"registrations": registrations})
            except RequestFailed as error:
                log.warning("client/registerCapability: %s", error)

    def actions(self, params: lsp_params.CodeActionParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        client = self._connection.client
        literals = client.has("textDocument.codeAction.codeActionLiteralSupport")
        first, last = params.range.start.line, params.range.end.line
        return [
            placed.offer.as_action(preferable=False) if literals else placed.offer.as_command
            for placed in (self._chats.offers(document) if document else ())
            if placed.start <= last and first < placed.end and placed.offer.is_wanted(params.context.only)
        ]

    def lenses(self, params: lsp_params.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        return [placed.offer.as_lens(placed.start) for placed in (self._chats.offers(document) if document else ())]

    async def completion(self, params: lsp_params.HoverParams) -> Json | None:
        document = self._documents.find_document(params.text_document.uri)
        number = params.position.line
        if document is None or not (is_chat(document.path) or is_prompt(document.uri)) or number >= len(document.lines):
            return None
        line = document.lines[number]
        column = from_client(line, params.position.character, self._documents.encoding)
        place = (line, number, column, self._documents.encoding)
        if self._begins_message(document, number) and (found := await self._slash.complete(*place)) is not None:
            return found
        return await self._completion.complete_mention(*place)

    async def folding(self, params: lsp_params.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        return [] if document is None else folds(document.lines, self._chats.transcripts.transcript_of(document))

    async def symbols(self, params: lsp_params.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        if document is None:
            return []
        found = symbols(document.lines, self._chats.transcripts.transcript_of(document), self._documents.encoding)
        nested = self._connection.client.has("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport")
        return found if nested else flat(found, document.uri)

    async def links(self, params: lsp_params.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        if document is None or document.path is None or sum(map(len, document.lines)) > MOST_LINKED:
            return []
        known: dict[str, str | None] = {}
        found = []
        written = ((number, line, link) for number, line in enumerate(document.lines) for link in find_links(line))
        for number, line, link in islice(written, MOST_LINKS):
            if link.path not in known:
                path = resolve(link.path, document.path.parent, self._workspace)
                known[link.path] = None if path is None else uri_from_path(path)
            if (uri := known[link.path]) is not None:
                target = uri if link.first is None else f"{uri}#L{link.first}"
                found.append({"range": self._range(line, number, link), "target": target})
        return found

    async def definition(self, params: lsp_params.HoverParams) -> Json | None:
        """The code that the link under the cursor points to."""
        document = self._chat(params.text_document.uri)
        number = params.position.line
        if document is None or document.path is None or number >= len(document.lines):
            return None
        line = document.lines[number]
        column = from_client(line, params.position.character, self._documents.encoding)
        link = next((found for found in find_links(line) if found.start <= column < found.end), None)
        path = None if link is None else resolve(link.path, document.path.parent, self._workspace)
        if link is None or path is None:
            return None
        try:
            lines = count_lines(self._workspace.read(path).text)
        except WorkspaceError:  # too large, or not text: the editor may still show it, from its start
            lines = 0
        first = min((link.first or 1) - 1, lines)
        return {"uri": self._documents.uri(path), "range": range_json(first, 0, first, 0)}

    def _chat(self, uri: str) -> TextDocument | None:
        document = self._documents.find_document(uri)
        return document if document is not None and is_chat(document.path) else None

    def _begins_message(self, document: TextDocument, number: int) -> bool:
        """Is the line the first non-blank line in a message of the user?"""
        sections = self._chats.transcripts.transcript_of(document).sections
        section = next((found for found in sections if found.body <= number < found.end), None)
        if section is None or section.speaker != "You":
            return False
        return not any(line.strip() for line in document.lines[section.body : number])

    def _range(self, line: str, number: int, link: Link) -> Json:
        encoding = self._documents.encoding
        return range_json(number, to_client(line, link.start, encoding), number, to_client(line, link.end, encoding))


def register(server: TarkServer, chat: Callable[[], ChatFeatures]) -> None:
    """Register the handlers. `chat` is called when a request comes, because there is no chat before `initialize`."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION)
    async def completion(params: lsp_params.HoverParams) -> Json | None:
        return await chat().completion(params)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: lsp_params.DocumentParams) -> list[Json]:
        return await chat().folding(params)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: lsp_params.DocumentParams) -> list[Json]:
        return await chat().symbols(params)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: lsp_params.DocumentParams) -> list[Json]:
        return await chat().links(params)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp_params.HoverParams) -> Json | None:
        return await chat().definition(params)
