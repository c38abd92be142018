"""Completion in the prompt: the terminal's slash commands and their arguments, and the server's mentions."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from tark_lsp.cli.visible import one_line
from tark_lsp.errors import TarkError
from tark_lsp.folders import state_folder
from tark_lsp.server.client import Client
from tark_lsp.workspace.uris import uri_from_path

DOCUMENT = "terminal.tark.md"
"""The prompt's name as a document, because the server completes chat documents. The file is never written."""
MAX_COMPLETED = 20_000
"""Characters. A longer prompt is not completed."""
CompletionWords = Callable[[], Awaitable[Sequence[tuple[str, str]]]]
"""Returns the words that can follow a command, each with a description."""


class PromptCompleter(Completer):
    """`commands()` returns the description and the possible words of each command, by its name with slash. `client()`
    returns the running server, if there is one.
    """

    def __init__(
        self,
        commands: Callable[[], Mapping[str, tuple[str, CompletionWords | None]]],
        client: Callable[[], Client | None],
    ) -> None:
        self._commands = commands
        self._client = client
        self._client_with_document: Client | None = None
        self._version = 0
        self._kept: tuple[str, Sequence[tuple[str, str]]] = ("", ())
        """A command and the words that can follow it. They are requested once per command, not for every key."""

    def forget_words(self) -> None:
        """Must be called after a prompt was sent, because that can change the words that can follow a command."""
        self._kept = ("", ())

    def get_completions(
        self,
        document: Document,  # noqa: ARG002 - the base class names it
        complete_event: CompleteEvent,  # noqa: ARG002 - the base class names it
    ) -> Iterable[Completion]:
        """The blocking interface of prompt_toolkit, which is not used."""
        return ()

    async def get_completions_async(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the base class names it
    ) -> AsyncGenerator[Completion, None]:
        if len(document.text) > MAX_COMPLETED:
            return
        before = document.text_before_cursor
        try:
            if before.startswith("/") and "\n" not in before:
                for completion in await self._slash(before):
                    yield completion
            for completion in await self._from_server(document):
                yield completion
        except TarkError:
            return  # no list is shown; problems of the server are reported elsewhere

    async def _slash(self, before: str) -> list[Completion]:
        name, space, typed = before.partition(" ")
        if not space or name != self._kept[0]:
            self.forget_words()
        if not space:
            found = [(command, about) for command, (about, _) in self._commands().items() if command.startswith(name)]
            return [
                Completion(f"{command} ", -len(name), display=command, display_meta=about) for command, about in found
            ]
        _, words = self._commands().get(name, ("", None))
        if words is None:
            return []
        if not self._kept[0]:
            self._kept = name, await words()
        wanted = typed.lower()
        return [
            Completion(word, -len(typed), display=one_line(word), display_meta=one_line(about, 60))
            for word, about in self._kept[1]
            if wanted in word.lower() or wanted in about.lower()
        ]

    async def _from_server(self, document: Document) -> list[Completion]:
        client = self._client()
        if client is None or not {"@", "/"} & set(document.current_line_before_cursor):
            return []
        identifier = {"uri": uri_from_path(state_folder() / DOCUMENT)}
        self._sync_document(client, identifier, document.text)
        row, column = document.cursor_position_row, document.cursor_position_col
        position = {"line": row, "character": column}
        answer = await client.request("textDocument/completion", {"textDocument": identifier, "position": position})
        items: Sequence[Mapping[str, Any]] = (answer or {}).get("items") or ()
        return [completion for item in items if (completion := _completion(item, document)) is not None]

    def _sync_document(self, client: Client, identifier: Mapping[str, str], text: str) -> None:
        self._version += 1
        versioned = {**identifier, "version": self._version}
        if client is self._client_with_document:
            change = {"textDocument": versioned, "contentChanges": [{"text": text}]}
            client.notify("textDocument/didChange", change)
        else:
            client.notify(
                "textDocument/didOpen", {"textDocument": {**versioned, "languageId": "markdown", "text": text}}
            )
            self._client_with_document = client


def _completion(item: Mapping[str, Any], document: Document) -> Completion | None:
    """None if the completion does not start with the typed text, or would insert invisible characters."""
    edit = item["textEdit"]
    start = edit["range"]["start"]["character"] - document.cursor_position_col
    typed = document.current_line_before_cursor[start:] if start else ""
    new, label = edit["newText"], one_line(item["label"])
    whole = item.get("filterText") or new
    mention = typed.startswith("@") and ":" in typed  # the server matches mentions by any of their letters
    if not new.isprintable() or not (mention or whole.startswith(typed)) or new == typed:
        return None
    return Completion(new, start, display=label, display_meta=one_line(item.get("detail") or "", 60))
