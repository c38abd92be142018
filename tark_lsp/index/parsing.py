"""Reads the definitions, references, imports and chunks of a file from its text. Pure; never raises."""

from tark_lsp.index.chunking import chunks_of
from tark_lsp.index.grammars import OutOfTime, grammar_of
from tark_lsp.index.languages import language_of
from tark_lsp.index.matches import Reading
from tark_lsp.index.model import ParsedFile
from tark_lsp.index.source import Source

MOST_CHARACTERS = 1_000_000
"""A longer text is only split into chunks."""


def parse_file(path: str, text: str) -> ParsedFile:
    """`path` only decides the language. The same path and text have the same result.

    If a text takes too much time or has no grammar, its language is empty and there are only chunks.
    """
    source = Source(text)
    language = language_of(path, text) if len(text) <= MOST_CHARACTERS else None
    if language is None:
        return _only_chunks(source)
    try:
        matches = grammar_of(language).matches(source.data)
    except (OutOfTime, ImportError, AttributeError):
        return _only_chunks(source)
    reading = Reading(source, matches, language.words)
    definitions = reading.definitions()
    return ParsedFile(
        language=language.name,
        definitions=definitions,
        references=reading.references(),
        imports=reading.imports(),
        chunks=chunks_of(source.lines, definitions),
    )


def parse_without_grammar(text: str) -> ParsedFile:
    """Only split the text into chunks, for a file that ended the process before.

    A grammar can exhaust the memory in one step, which no time limit stops (`a=>` 10,000 times in Java).
    """
    return _only_chunks(Source(text))


def _only_chunks(source: Source) -> ParsedFile:
    return ParsedFile("", (), (), (), chunks_of(source.lines, ()))
