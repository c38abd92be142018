"""The fields of a file's chunks for the text index (text_index.py). Pure.

Identifiers are split into words with spaces. The text index itself splits texts at all other characters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import TypeAlias

from tark_lsp.index.chunk_text import chunk_key, chunk_text
from tark_lsp.index.model import Chunk, ParsedFile

Fields: TypeAlias = Mapping[str, Sequence[str | int]]
"""The values of a chunk by field name."""
BEGINNINGS = re.compile(r"[A-Z0-9](?:(?<=[a-z0-9][A-Z])|(?<=[A-Za-z][0-9])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""Where a word begins inside an identifier, except after `_` and the like, which tantivy's tokenizer treats as spaces.

The rules are those of identifiers.py, as one expression. It begins with a character set, for speed: 90 MB/s.
"""


def spaced(text: str) -> str:
    """Separate the words inside identifiers with spaces. Lines stay the same."""
    return BEGINNINGS.sub(_behind_a_space, text)


@lru_cache(maxsize=10_000)
def _spaced_name(name: str) -> str:
    return spaced(name)


def _behind_a_space(match: re.Match[str]) -> str:
    return f" {match[0]}"


def lines_of(text: str) -> list[str]:
    """The lines as chunks count them, without line endings."""
    return (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).split("\n")


def chunk_fields(path: str, text: str, parsed: ParsedFile) -> list[Fields]:
    """The fields of each chunk, in the order of the chunks."""
    lines = lines_of(spaced(text))
    path_words = [spaced(path_text(path))]
    defined = names_by_chunk(parsed)
    uses = sorted({reference.name for reference in parsed.references})
    keys = [chunk_key(text) for text in chunk_texts(path, text, parsed.chunks)]
    return [
        {
            "key": [keys[number]],
            "body": ["\n".join(lines[chunk.start_line - 1 : chunk.end_line])],
            "outer": [_spaced_name(chunk.symbol)],
            "path": path_words,
            "symbol": [_spaced_name(name) for name in defined.get(number, ())],
            "defines": defined.get(number, []),
            "lower": [name.lower() for name in defined.get(number, ())],
            "uses": uses if number == 0 else [],
        }
        for number, chunk in enumerate(parsed.chunks)
    ]


def chunk_texts(path: str, text: str, chunks: Sequence[Chunk]) -> Iterator[str]:
    """The texts from which the vectors of the chunks are computed."""
    lines = lines_of(text)
    for chunk in chunks:
        yield chunk_text(path, chunk.symbol, "\n".join(lines[chunk.start_line - 1 : chunk.end_line]))


def path_text(path: str) -> str:
    """The last parts of a path, which describe the file. The first parts are the same for most files."""
    return " ".join(PurePath(path).parts[-4:]).encode("utf-8", "replace").decode()


def names_by_chunk(parsed: ParsedFile) -> dict[int, list[str]]:
    """The names of the definitions that begin in each chunk. Those outside of all chunks belong to the first chunk."""
    starts = [(chunk.start_line, chunk.end_line) for chunk in parsed.chunks]
    found: dict[int, list[str]] = {}
    for definition in parsed.definitions:
        line = definition.name_line
        number = next((number for number, (start, end) in enumerate(starts) if start <= line <= end), 0)
        found.setdefault(number, []).append(definition.name)
    return found
