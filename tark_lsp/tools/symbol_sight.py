"""`Sight`: the definitions that a tool may show, with lines that are checked against the current text.

Files that the model must not read are never shown, not even their names.
"""

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from tark_lsp.errors import WorkspaceError
from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.tools.language_servers import CodePlace
from tark_lsp.tools.masking import mask_file
from tark_lsp.tools.search_text import LEFT_OUT
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.lines import split_lines

WORD = re.compile(r"\w+")
LONGEST_LINE = 200
LONGEST_SIGNATURE = 280
"""Instead of a longer signature, its line is shown: if the signature is cut inside a secret, this is not masked."""
AT_ONCE = 50
"""Symbols that are checked before the event loop gets control."""


class Source(StrEnum):
    EDITOR = "from the editor's language server"
    INDEX = "from the index"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. Lines count from 1, `end_line` is inclusive. If `signature` is empty, its line is shown instead."""

    path: Path
    start_line: int
    end_line: int
    name_line: int
    qualified_name: str
    kind: str = ""
    signature: str = ""
    calls: tuple[int, ...] = ()
    """In a call hierarchy, the lines of the calls, if known."""

    @property
    def name(self) -> str:
        return self.qualified_name.rpartition(".")[2]

    @classmethod
    def of_index(cls, found: FoundDefinition) -> "Symbol":
        one = found.definition
        where = (found.path, one.start_line, one.end_line, one.name_line)
        return cls(*where, one.qualified_name, one.kind.value, one.signature)

    @classmethod
    def of_editor(cls, place: CodePlace) -> "Symbol":
        where = (place.path, place.start_line, place.end_line, place.name_line)
        return cls(*where, place.qualified_name, place.kind, calls=place.calls)


@dataclass(slots=True)
class Sight:
    """The parts of files that the model may see, for one result. Reads each file once."""

    ctx: ToolContext
    asked: set[str] = field(default_factory=set)
    _lines: dict[Path, Sequence[str] | None] = field(default_factory=dict)
    _visible: dict[Path, bool] = field(default_factory=dict)
    _words: dict[Path, dict[str, list[int]]] = field(default_factory=dict)
    """The lines of each word, for files with symbols that are not on their known lines."""

    def shows(self, path: Path) -> bool:
        """Whether the file may be shown: it is in the workspace, and no rule hides it or asks about it."""
        if path not in self._visible:
            ctx = self.ctx
            is_link = Path(os.path.realpath(path)) != path  # the file can have been replaced with a link
            inside = (
                not is_link
                and ctx.workspace.is_inside(path)
                and not ctx.is_read_denied(path)
                and not ctx.workspace.is_private(path)
            )
            if inside and ctx.is_read_asked(path):
                self.asked.add(ctx.workspace.display(path))
                inside = False
            self._visible[path] = inside
        return self._visible[path]

    def lines(self, path: Path) -> Sequence[str]:
        """The lines with their endings, with masked secrets and the edits of this answer. Empty if not visible."""
        if path not in self._lines:
            self._lines[path] = None
            with suppress(WorkspaceError):
                if self.shows(path):
                    self._lines[path] = split_lines(mask_file(self.ctx, path, self.ctx.read_draft(path).text).text)
        return self._lines[path] or ()

    def line(self, path: Path, number: int) -> str:
        lines = self.lines(path)
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"

    async def read(self, paths: Iterable[Path]) -> None:
        """Read these files. Other tasks can run in between: masking the secrets of a long file takes 20 ms."""
        for path in paths:
            if path not in self._lines:
                self.lines(path)
                await asyncio.sleep(0)

    async def settled(self, symbols: Iterable[Symbol]) -> list[Symbol]:
        """The visible symbols, with their lines in the current text, which can be newer than the symbols."""
        found: list[Symbol] = []
        for number, symbol in enumerate(symbols):
            await self.read([symbol.path])
            found += self._settled(symbol)
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    def _settled(self, symbol: Symbol) -> Iterator[Symbol]:
        lines, at = self.lines(symbol.path), symbol.name_line - 1
        pattern = re.compile(rf"(?<!\w){re.escape(symbol.name)}(?!\w)")
        if not lines or (at < len(lines) and pattern.search(lines[at])) or symbol.kind == "module":
            if lines:
                yield symbol
            return
        found = [number for number in self._lines_with(symbol) if pattern.search(lines[number])]
        if found:
            shift = min(found, key=lambda number: (abs(number - at), number)) - at
            start, end = symbol.start_line + shift, min(symbol.end_line + shift, len(lines))
            yield replace(symbol, start_line=max(1, start), end_line=end, name_line=symbol.name_line + shift)

    def _lines_with(self, symbol: Symbol) -> Sequence[int]:
        """The lines, from 0, with the first word of the symbol's name; all lines if the name has no word."""
        lines, word = self.lines(symbol.path), WORD.search(symbol.name)
        if word is None:
            return range(len(lines))
        if symbol.path not in self._words:
            words = self._words[symbol.path] = defaultdict(list)
            for number, line in enumerate(lines):
                for name in {*WORD.findall(line)}:
                    words[name].append(number)
        return self._words[symbol.path].get(word[0], ())

    def head(self, symbol: Symbol) -> str:
        """Its signature, or the line of its name."""
        if symbol.signature and len(symbol.signature) < LONGEST_SIGNATURE:
            return symbol.signature
        return self.line(symbol.path, symbol.name_line) or symbol.qualified_name

    def describe(self, symbol: Symbol) -> str:
        """One line: `path:START-END: signature [qualified name]`."""
        last = f"-{symbol.end_line}" if symbol.end_line > symbol.start_line else ""
        name = f" [{symbol.qualified_name}]" if "." in symbol.qualified_name else ""
        calls = f" (calls in line{'s' if len(symbol.calls) > 1 else ''} {', '.join(map(str, symbol.calls))})"
        where = f"{self.ctx.workspace.display(symbol.path)}:{symbol.start_line}{last}"
        head = "code outside of definitions" if symbol.kind == "module" and not symbol.signature else self.head(symbol)
        return f"{where}: {head}{name}{calls if symbol.calls else ''}"

    def notes(self, *found: Found[Any] | None) -> list[str]:
        """Notes for the reader of a result, as lines in brackets."""
        said = [note for one in found if one is not None for note in one.notes]
        shares = [one.share for one in found if one is not None and one.share < 1]
        if shares:
            said.append(
                f"The index holds {min(shares):.0%} of the files so far: there can be more. search_text finds it."
            )
        if self.ctx.may_hide_below(self.ctx.workspace.folders):
            said.append(LEFT_OUT)
        if self.asked:
            said.append(f"Not shown, because a rule asks before they are read: {', '.join(sorted(self.asked))}.")
        return [f"[{note}]" for note in dict.fromkeys(said)]
