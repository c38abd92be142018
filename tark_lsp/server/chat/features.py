"""LSP's requests about chat documents: actions, lenses, completion, folds, symbols, links, definitions.

All other documents are answered with nothing, at once: some clients can only be told of these features for all.
"""

import logging
from collections.abc import Callable
from itertools import islice
from typing import Any

from tark_lsp.errors import WorkspaceError
from tark_lsp.server import protocol
from tark_lsp.server.capabilities import CHAT_FEATURES, is_dynamic
from tark_lsp.server.chat.chats import Chats
from tark_lsp.server.chat.completion import Completion
from tark_lsp.server.chat.links import Link, find_links, resolve
from tark_lsp.server.chat.outline import flat, folds, symbols
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents, TextDocument
from tark_lsp.server.documents.positions import from_client, to_client
from tark_lsp.server.documents.text_document import CHAT_ENDING, is_chat, is_prompt
from tark_lsp.server.documents.uris import uri_from_path
from tark_lsp.server.protocol_json import range_json
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import count_lines

log = logging.getLogger(__name__)

Json = dict[str, Any]
MOST_LINKED = 1_000_000
"""Characters of a chat whose links are listed; in a longer one, each is still followed by its definition."""
MOST_LINKS = 1_000
"""Links of a chat that are looked up to be listed."""


class Chat:
    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        workspace: Workspace,
        chats: Chats,
        completion: Completion,
    ) -> None:
        self._connection = connection
        self._documents = documents
        self._workspace = workspace
        self._chats = chats
        self._completion = completion

    async def register(self) -> None:
        """Tell the client of these features for chat documents alone, of those it can be told so."""
        selector = [{"scheme": "file", "pattern": f"**/*{CHAT_ENDING}"}]
        registrations = [
            {
                "id": f"tark-chat-{feature}",
                "method": f"textDocument/{feature}",
                "registerOptions": {"documentSelector": selector, **(options if isinstance(options, dict) else {})},
            }
            for feature, (_, options) in CHAT_FEATURES.items()
            if is_dynamic(self._connection.client.capabilities, feature)
        ]
        if registrations:
            try:
                await self._connection.request("client/registerCapability", {"registrations": registrations})
            except RequestFailed as error:
                log.warning("client/registerCapability: %s", error)

    def actions(self, params: protocol.CodeActionParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        client = self._connection.client
        literals = client.has("textDocument.codeAction.codeActionLiteralSupport")
        first, last = params.range.start.line, params.range.end.line
        return [
            placed.offer.as_action(preferable=False) if literals else placed.offer.as_command
            for placed in (self._chats.offers(document) if document else ())
            if placed.start <= last and first < placed.end and placed.offer.wanted(params.context.only)
        ]

    def lenses(self, params: protocol.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        return [placed.offer.as_lens(placed.start) for placed in (self._chats.offers(document) if document else ())]

    async def completion(self, params: protocol.HoverParams) -> Json | None:
        document = self._documents.find(params.text_document.uri)
        number = params.position.line
        if document is None or not (is_chat(document.path) or is_prompt(document.uri)) or number >= len(document.lines):
            return None
        line = document.lines[number]
        column = from_client(line, params.position.character, self._documents.encoding)
        place = (line, number, column, self._documents.encoding)
        if self._begins_message(document, number) and (found := self._completion.slash(*place)) is not None:
            return found
        return await self._completion.at(*place)

    async def folding(self, params: protocol.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        return [] if document is None else folds(document.lines, self._chats.transcripts.of(document))

    async def symbols(self, params: protocol.DocumentParams) -> list[Json]:
        document = self._chat(params.text_document.uri)
        if document is None:
            return []
        found = symbols(document.lines, self._chats.transcripts.of(document), self._documents.encoding)
        nested = self._connection.client.has("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport")
        return found if nested else flat(found, document.uri)

    async def links(self, params: protocol.DocumentParams) -> list[Json]:
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

    async def definition(self, params: protocol.HoverParams) -> Json | None:
        """The code that the link under the caret means."""
        document = self._chat(params.text_document.uri)
        number = params.position.line
        if document is None or document.path is None or number >= len(document.lines):
            return None
        line = document.lines[number]
        column = from_client(line, params.position.character, self._documents.encoding)
        link = next((each for each in find_links(line) if each.start <= column < each.end), None)
        path = None if link is None else resolve(link.path, document.path.parent, self._workspace)
        if link is None or path is None:
            return None
        try:
            lines = count_lines(self._workspace.read(path).text)
        except WorkspaceError:  # too large, or no text: the editor may show it all the same, from its beginning
            lines = 0
        first = min((link.first or 1) - 1, lines)
        return {"uri": self._documents.uri(path), "range": range_json(first, 0, first, 0)}

    def _chat(self, uri: str) -> TextDocument | None:
        document = self._documents.find(uri)
        return document if document is not None and is_chat(document.path) else None

    def _begins_message(self, document: TextDocument, number: int) -> bool:
        """Is the line the first of a message of the person's that says something?"""
        sections = self._chats.transcripts.of(document).sections
        section = next((each for each in sections if each.body <= number < each.end), None)
        if section is None or section.speaker != "You":
            return False
        return not any(line.strip() for line in document.lines[section.body : number])

    def _range(self, line: str, number: int, link: Link) -> Json:
        encoding = self._documents.encoding
        return range_json(number, to_client(line, link.start, encoding), number, to_client(line, link.end, encoding))


def serve(connection: Connection, chat: Callable[[], Chat]) -> None:
    """Register the handlers; `chat()` is there when the first request comes."""

    async def completion(params: protocol.HoverParams) -> Json | None:
        return await chat().completion(params)

    async def folding(params: protocol.DocumentParams) -> list[Json]:
        return await chat().folding(params)

    async def symbols(params: protocol.DocumentParams) -> list[Json]:
        return await chat().symbols(params)

    async def links(params: protocol.DocumentParams) -> list[Json]:
        return await chat().links(params)

    async def definition(params: protocol.HoverParams) -> Json | None:
        return await chat().definition(params)

    connection.on_request("textDocument/completion", completion, protocol.HoverParams)
    connection.on_request("textDocument/foldingRange", folding, protocol.DocumentParams)
    connection.on_request("textDocument/documentSymbol", symbols, protocol.DocumentParams)
    connection.on_request("textDocument/documentLink", links, protocol.DocumentParams)
    connection.on_request("textDocument/definition", definition, protocol.HoverParams)
