"""Asks the editor's other language servers with `tark/clientState`, and reads their answers, which have LSP's types.

Only the lines of ranges count, because the characters can be in the encoding of another server.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.capabilities import find_value
from tark_lsp.tools.language_servers import CodeAnswer, CodePlace, CodeQuestion, Want
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.positions import to_client
from tark_lsp.workspace.uris import path_from_uri

log = logging.getLogger(__name__)

SECONDS = 2.0
"""How long an answer can take. After that, the index answers."""
MOST_PLACES = 2_000
"""How many items of one answer are read."""
DEEPEST = 20
"""How many levels of nested symbols are read."""
LONGEST_HOVER = 10_000

NUMBERS_OF_KINDS: Mapping[str, Sequence[int]] = {
    "file": (1,),
    "module": (2, 3, 4),
    "class": (5, 23),
    "method": (6, 9),
    "field": (7, 8),
    "enum": (10,),
    "interface": (11,),
    "function": (12,),
    "variable": (13,),
    "constant": (14, 22),
    "event": (24,),
    "operator": (25,),
    "type": (26,),
}
KINDS = {number: kind for kind, numbers in NUMBERS_OF_KINDS.items() for number in numbers}
"""LSP's SymbolKind -> the index's name. Other kinds (literals) are not definitions, and have no name here."""


async def ask_language_servers(
    connection: Connection, documents: Documents, question: CodeQuestion, line: str
) -> CodeAnswer | None:
    """`line` is the text of the question's line. None if there is no answer in time, or if it is empty."""
    if not connection.client.understands("languageServers"):
        return None
    params: dict[str, Any] = {"want": [question.want.value]}
    if question.path is None:
        params["query"] = question.query
    else:
        params["uri"] = documents.uri(question.path)
        if question.want is not Want.SYMBOLS:
            character = to_client(line, question.column, connection.client.position_encoding)
            params["position"] = {"line": question.line - 1, "character": character}
    try:
        async with asyncio.timeout(SECONDS) as deadline:
            state = await connection.request(incoming.CLIENT_STATE, params)
    except TimeoutError:
        if not deadline.expired():
            raise
        log.info("tark/clientState: no language server answered %s within %s s", question.want, SECONDS)
        return None
    except RequestFailed as error:
        log.warning("tark/clientState: %s", error)
        return None
    return read_answer(question, find_value(state, question.want.value))


def read_answer(question: CodeQuestion, value: object) -> CodeAnswer | None:
    """The answer without malformed parts; None if nothing is left."""
    if question.want is Want.HOVER:
        text = value.strip()[:LONGEST_HOVER] if isinstance(value, str) else ""
        return CodeAnswer(text=text) if text else None
    if question.want is Want.CALL_HIERARCHY:
        incoming_calls = _calls(find_value(value, "incoming"), "from")
        outgoing = _calls(find_value(value, "outgoing"), "to")
        return CodeAnswer(incoming_calls, outgoing) if isinstance(value, dict) else None
    places = tuple(islice(_places(value, question.path), MOST_PLACES))
    return CodeAnswer(places) if places else None


def _places(value: object, path: Path | None, container: str = "", depth: int = 0) -> Iterator[CodePlace]:
    """From Location, SymbolInformation and DocumentSymbol. `path`: the file of the DocumentSymbol."""
    for item in value if isinstance(value, list) else []:
        uri = find_value(item, "location.uri") or find_value(item, "uri")
        file = path_from_uri(uri) if isinstance(uri, str) else path
        lines = _lines(find_value(item, "location.range") or find_value(item, "range"))
        if file is None or lines is None:
            continue
        name = _name(item)
        around = container or _container(item, name)
        name_line, _ = _lines(find_value(item, "selectionRange")) or lines
        kind = _kind(item)
        yield CodePlace(file, *lines, name_line, name, kind, around)
        if depth < DEEPEST:
            inner = f"{around}.{name}" if around else name
            yield from _places(find_value(item, "children"), file, inner, depth + 1)


def _container(item: object, name: str) -> str:
    """Some servers (jedi) return the qualified name of the symbol: `shop.Item.price` for `price`."""
    around = find_value(item, "containerName")
    return f".{around}".removesuffix(f".{name}")[1:] if isinstance(around, str) else ""


def _calls(value: object, end: str) -> tuple[CodePlace, ...]:
    """From CallHierarchyIncomingCall (`end` is "from") and CallHierarchyOutgoingCall ("to")."""
    found = []
    for item in value[:MOST_PLACES] if isinstance(value, list) else []:
        other = find_value(item, end)
        uri, lines = find_value(other, "uri"), _lines(find_value(other, "range"))
        path = path_from_uri(uri) if isinstance(uri, str) else None
        if path is None or lines is None:
            continue
        name_line, _ = _lines(find_value(other, "selectionRange")) or lines
        ranges = find_value(item, "fromRanges")
        places = [_lines(one) for one in ranges] if isinstance(ranges, list) else []
        calls = tuple(dict.fromkeys(place[0] for place in places if place))
        found.append(CodePlace(path, *lines, name_line, _name(other), _kind(other), "", calls))
    return tuple(found)


def _kind(item: object) -> str:
    number = find_value(item, "kind")
    return KINDS.get(number, "") if isinstance(number, int) else ""


def _name(item: object) -> str:
    """Some servers add parentheses or types, as in `area()` and `area(self)`."""
    return str(find_value(item, "name") or "").partition("(")[0].strip()


def _lines(value: object) -> tuple[int, int] | None:
    """The first and last line of LSP's Range, from 1. A range that ends at a line's start ends in the line above."""
    start, end = find_value(value, "start.line"), find_value(value, "end.line")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end:
        return None
    if end > start and find_value(value, "end.character") == 0:
        end -= 1
    return start + 1, end + 1
