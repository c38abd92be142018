"""The two types that all scripted wires share: the reply to encode, and an entry of a request's history."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.llm.scripted.scenario import LastMessage, Reply, ScriptedCall

CHARACTERS_PER_TOKEN = 4
"""Scripts report usage too, so that everything that counts tokens is exercised. It is an estimate."""


@dataclass(frozen=True, slots=True)
class Playback:
    """A reply to encode. `first_call`: the number of its first call, which keeps ids unique.

    `searches`: the request has a tool search that the client does (Responses).
    """

    reply: Reply
    model: str
    input_tokens: int
    first_call: int
    searches: bool = False

    @property
    def thinking_tokens(self) -> int:
        """Tokens of the thinking."""
        return -(-len(self.reply.thinking) // CHARACTERS_PER_TOKEN)

    @property
    def text_tokens(self) -> int:
        """Tokens of text and calls."""
        written = len(self.reply.text) + sum(len(arguments_text(call)) for call in self.reply.calls)
        return written // CHARACTERS_PER_TOKEN + 1

    @property
    def calls(self) -> Iterator[tuple[int, ScriptedCall]]:
        """The calls with their numbers."""
        return enumerate(self.reply.calls, self.first_call)

    def pieces(self, text: str) -> Iterator[str]:
        """Cuts `text` into deltas of the reply's `chunk` characters."""
        size = self.reply.chunk
        return (text[start : start + size] for start in range(0, len(text), size))


def arguments_text(call: ScriptedCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False) if call.arguments_json is None else call.arguments_json


def arguments_object(call: ScriptedCall) -> dict[str, Any] | None:
    """For wires that send an object. None if `arguments_json` is not an object."""
    try:
        value = json.loads(arguments_text(call))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of a request's history: its texts, and the names of the tools whose results it holds."""

    texts: Sequence[str] = ()
    results: Sequence[str] = ()


def last_message(history: Sequence[HistoryEntry]) -> LastMessage:
    """The last entry. If it is a result, also the results before it: some wires have one entry per result."""
    last = list(history[-1:])
    if last and last[0].results:
        for entry in reversed(history[:-1]):
            if not entry.results:
                break
            last.insert(0, entry)
    texts = [text for entry in last for text in entry.texts if text]
    return LastMessage("\n".join(texts), tuple(name for entry in last for name in entry.results))


def texts_of(content: object) -> list[str]:
    """The texts of a string, or of a list of parts with `text`."""
    return [content] if isinstance(content, str) else [part.get("text", "") for part in objects(content)]


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
