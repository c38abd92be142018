"""Folds and symbols of a chat document, as LSP's JSON. Pure."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tark_lsp.server.chat.transcript import Section, Transcript, words
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.visible import cut, visible
from tark_lsp.workspace.positions import line_length, to_client

STRING = 15
"""`SymbolKind.String`: LSP has no kind for messages."""
LONGEST_NAME = 60
NOTE = "> "
"""The beginning of Tark's own lines in an answer, mostly tool calls (answer_text.py)."""


def folds(lines: Sequence[str], transcript: Transcript) -> list[dict[str, Any]]:
    """One fold for each message under its heading, and one for each series of tool calls."""
    found = []
    for section in transcript.sections:
        found.append((section.start, _last_line(lines, section)))
        if section.speaker == "Tark":
            numbers = range(section.body, section.end)
            for is_note, some in groupby(numbers, lambda number: lines[number].startswith(NOTE)):
                run = list(some) if is_note else []
                if len(run) > 1:
                    found.append((run[0], run[-1]))
    return [{"startLine": start, "endLine": end, "kind": "region"} for start, end in found if end > start]


def symbols(lines: Sequence[str], transcript: Transcript, encoding: str) -> list[dict[str, Any]]:
    """`DocumentSymbol`s: `You: first words`."""
    return [
        {
            "name": f"{section.speaker}: {_first_words(lines, section)}".rstrip(": "),
            "kind": STRING,
            "range": _range(lines, section.start, _last_line(lines, section), encoding),
            "selectionRange": _range(lines, section.start, section.start, encoding),
        }
        for section in transcript.sections
    ]


def flat(symbols: Sequence[dict[str, Any]], uri: str) -> list[dict[str, Any]]:
    """The symbols as `SymbolInformation`, for clients without hierarchical symbols."""
    return [
        {"name": symbol["name"], "kind": symbol["kind"], "location": {"uri": uri, "range": symbol["range"]}}
        for symbol in symbols
    ]


def _last_line(lines: Sequence[str], section: Section) -> int:
    """The last non-blank line."""
    last = section.end - 1
    while last > section.start and not lines[last].strip():
        last -= 1
    return last


def _first_words(lines: Sequence[str], section: Section) -> str:
    text = words(lines, Section(section.speaker, section.start, section.body, min(section.end, section.body + 50)))
    return cut(visible(text.partition("\n")[0][: LONGEST_NAME + 1]), LONGEST_NAME)


def _range(lines: Sequence[str], first: int, last: int, encoding: str) -> dict[str, Any]:
    return range_json(first, 0, last, to_client(lines[last], line_length(lines[last]), encoding))
