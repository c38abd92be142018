"""Completion in the prompt: the terminal's own slash commands and their words, and the mentions the server knows."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from tark_lsp.cli.visible import one_line
from tark_lsp.errors import TarkError
from tark_lsp.folders import state_folder
from tark_lsp.server.client import Client
from tark_lsp.server.documents.uris import uri_from_path

DOCUMENT = "terminal.tark.md"
"""What the prompt is called as a document: completion is for chats. It is never written."""
LONGEST_COMPLETED = 20_000
"""Characters of a prompt that is completed."""
Words = Callable[[], Awaitable[Sequence[tuple[str, str]]]]
"""What may follow a command: each word with what it is."""


class PromptCompleter(Completer):
    """`commands()`: name with slash, what it does, and what may follow it. `client()`: the server, where one runs."""

    def __init__(
        self, commands: Callable[[], Mapping[str, tuple[str, Words | None]]], client: Callable[[], Client | None]
    ) -> None:
        self._commands = commands
        self._client = client
        self._told: Client | None = None
        self._version = 0
        self._kept: tuple[str, Sequence[tuple[str, str]]] = ("", ())
        """A command and its words: asked for once while it is typed, not at every key."""

    def forget(self) -> None:
        """What was typed is sent, and may change what can follow a command."""
        self._kept = ("", ())

    def get_completions(
        self,
        document: Document,  # noqa: ARG002 - the base class names it
        complete_event: CompleteEvent,  # noqa: ARG002 - the base class names it
    ) -> Iterable[Completion]:
        """Of prompt_toolkit's other, blocking way, which is not used."""
        return ()

    async def get_completions_async(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the base class names it
    ) -> AsyncGenerator[Completion, None]:
        if len(document.text) > LONGEST_COMPLETED:
            return
        before = document.text_before_cursor
        try:
            if before.startswith("/") and "\n" not in before:
                for each in await self._slash(before):
                    yield each
            for each in await self._asked(document):
                yield each
        except TarkError:
            return  # no list is shown; what is wrong with the server is said where it matters

    async def _slash(self, before: str) -> list[Completion]:
        name, space, typed = before.partition(" ")
        if not space or name != self._kept[0]:
            self.forget()
        if not space:
            found = [(each, about) for each, (about, _) in self._commands().items() if each.startswith(name)]
            return [Completion(f"{each} ", -len(name), display=each, display_meta=about) for each, about in found]
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

    async def _asked(self, document: Document) -> list[Completion]:
        client = self._client()
        if client is None or not {"@", "/"} & set(document.current_line_before_cursor):
            return []
        identifier = {"uri": uri_from_path(state_folder() / DOCUMENT)}
        self._tell(client, identifier, document.text)
        row, column = document.cursor_position_row, document.cursor_position_col
        position = {"line": row, "character": column}
        answer = await client.request("textDocument/completion", {"textDocument": identifier, "position": position})
        items: Sequence[Mapping[str, Any]] = (answer or {}).get("items") or ()
        return [each for item in items if (each := _completion(item, document)) is not None]

    def _tell(self, client: Client, identifier: Mapping[str, str], text: str) -> None:
        self._version += 1
        versioned = {**identifier, "version": self._version}
        if client is self._told:
            change = {"textDocument": versioned, "contentChanges": [{"text": text}]}
            client.notify("textDocument/didChange", change)
        else:
            client.notify(
                "textDocument/didOpen", {"textDocument": {**versioned, "languageId": "markdown", "text": text}}
            )
            self._told = client


def _completion(item: Mapping[str, Any], document: Document) -> Completion | None:
    """None: it does not begin with what is typed, or would write what cannot be seen."""
    edit = item["textEdit"]
    start = edit["range"]["start"]["character"] - document.cursor_position_col
    typed = document.current_line_before_cursor[start:] if start else ""
    new, label = edit["newText"], one_line(item["label"])
    whole = item.get("filterText") or new
    mention = typed.startswith("@") and ":" in typed  # those the server chose by any of their letters
    if not new.isprintable() or not (mention or whole.startswith(typed)) or new == typed:
        return None
    return Completion(new, start, display=label, display_meta=one_line(item.get("detail") or "", 60))
