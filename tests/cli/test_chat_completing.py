"""The words after a command are requested once while the command is typed."""

import asyncio
from collections.abc import Sequence

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from tark_lsp.cli.chatting.completion import CompletionWords, PromptCompleter


def test_words_are_kept_while_the_same_command_is_typed() -> None:
    asked: list[str] = []
    words = [("session-1", "First"), ("session-2", "Second")]

    def follow(name: str) -> tuple[str, CompletionWords]:
        async def given() -> Sequence[tuple[str, str]]:
            asked.append(name)
            return list(words)

        return "", given

    completer = PromptCompleter(
        lambda: {"/resume": follow("/resume"), "/delete": follow("/delete"), "/new": ("", None)},
        lambda: None,
    )

    def offered(text: str) -> list[str]:
        async def all_of_it() -> list[str]:
            found = completer.get_completions_async(Document(text), CompleteEvent())
            return [item.text async for item in found]

        return asyncio.run(all_of_it())

    assert offered("/resume ") == ["session-1", "session-2"]
    assert offered("/resume s") == ["session-1", "session-2"]
    assert offered("/resume second") == ["session-2"]
    assert asked == ["/resume"]
    assert offered("/new x") == []
    assert offered("/delete f") == ["session-1"]
    assert asked == ["/resume", "/delete"]
    words.pop()
    assert offered("/delete se") == ["session-1", "session-2"]
    completer.forget_words()
    assert offered("/delete se") == ["session-1"]
    assert offered("/del") == ["/delete "]
    assert offered("/delete ") == ["session-1"]
    assert asked == ["/resume", *["/delete"] * 3]
