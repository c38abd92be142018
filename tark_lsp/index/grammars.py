"""Parses a text with the grammar of its language, with a time limit. Grammars are imported when they are first used."""

import faulthandler
import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from tark_lsp.index.languages.language import CodeLanguage

SECONDS = 1.0
"""CPU time to parse one text. It is not wall-clock time, so that the result is the same on a busy machine."""

ENDLESS_SECONDS = 30
"""Wall-clock time. A grammar that takes longer ignores its time limit, so its process is ended."""

PIECE = 1 << 16
"""Bytes per read: a grammar checks its time limit only if it gets the text in pieces."""

DEEPEST = 500
"""Levels of nested nodes with more than LARGE descendants. A query's time grows with the square of the depth."""
LARGE = 2_000

LONGEST_ROW = 10_000
"""Consecutive anonymous tokens, such as unclosed brackets. From each of them, a query searches the next named node, so
its time grows with the square of their number: 0.04 s for this number, 4 s for ten times as many. (A query has a
progress callback, but tree-sitter 0.26 for Python crashes if it is used.)"""


class OutOfTime(Exception):
    """A text takes too much time."""


@dataclass(frozen=True, slots=True)
class Grammar:
    parser: Parser
    query: Query
    ends_lines: bool

    def matches(self, data: bytes) -> list[tuple[int, dict[str, list[Node]]]]:
        """For each match: the number of the pattern, and the captured nodes by name. Raises OutOfTime.

        Ends the process after ENDLESS_SECONDS.
        """
        if self.ends_lines and not data.endswith(b"\n"):
            data += b"\n"
        with end_process_after(ENDLESS_SECONDS):
            root = self._tree(data).root_node
            if _is_too_deep_or_long(root):
                raise OutOfTime
            return QueryCursor(self.query).matches(root)

    def _tree(self, data: bytes) -> Tree:
        stop = time.thread_time() + SECONDS
        view = memoryview(data)
        pieces: list[memoryview] = []

        def read(offset: int, _: object) -> memoryview:
            pieces.append(view[offset : offset + PIECE])
            return pieces[-1]

        try:
            return self.parser.parse(read, progress_callback=lambda _, __: time.thread_time() > stop)
        except ValueError as error:  # "Parsing failed": the callback stopped the parser
            self.parser.reset()
            raise OutOfTime from error
        finally:
            for piece in pieces:  # tree-sitter 0.26 for Python never frees them, and each keeps the whole text alive
                piece.release()


@contextmanager
def end_process_after(seconds: float) -> Iterator[None]:
    """End the process after this time, even if native code holds the GIL and no Python thread or handler runs."""
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _is_too_deep_or_long(root: Node) -> bool:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if node.descendant_count <= LARGE:
            continue
        if depth > DEEPEST:
            return True
        children = node.children
        waiting += [(child, depth + 1) for child in children]
        if len(children) > LONGEST_ROW:
            rows = groupby(children, key=lambda child: child.is_named)
            if any(not is_named and sum(1 for _ in row) > LONGEST_ROW for is_named, row in rows):
                return True
    return False


@cache
def grammar_of(language: CodeLanguage) -> Grammar:
    """Raises ImportError or AttributeError if the grammar's wheel is missing or has another version."""
    module = importlib.import_module(language.module)
    grammar = Language(getattr(module, language.function)())
    return Grammar(Parser(grammar), Query(grammar, language.query), language.ends_lines)
