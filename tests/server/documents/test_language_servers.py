"""What the editor's other language servers are asked, and how their answers are read, well-formed or not."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.documents import language_servers
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.tools.language_servers import CodeAnswer, CodePlace, CodeQuestion, Want
from tests.server.scripted import Json, ScriptedConnection, ScriptedEditor, capabilities, refuse


class Desk:
    def __init__(self, folder: Path, *flags: str) -> None:
        self.editor = ScriptedEditor(folder.resolve(), capabilities(tark=flags))
        self.path = self.editor.open("a.py", 'pies = "🥧"; area()\n')
        connection = self.editor.connection
        assert isinstance(connection, ScriptedConnection)
        self.connection = connection
        self.state = ClientState(connection, self.editor.documents)
        self.asked: list[Json] = []

    async def ask(self, answer: Any, want: Want = Want.DEFINITION, **question: Any) -> CodeAnswer | None:
        def answer_it(params: Json) -> Any:
            self.asked.append(params)
            return answer

        self.connection.answers["tark/clientState"] = answer_it
        path = None if "query" in question else self.path
        question = {"line": 1, "column": 12, **question}
        return await self.state.ask_language_servers(CodeQuestion(want, path, **question), 'pies = "🥧"; area()\n')


def span(first: int, last: int, character: int = 4) -> Json:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": character}}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, "languageServers")


async def test_a_place_is_sent_in_the_encoding_of_the_client(desk: Desk) -> None:
    found = await desk.ask({"definition": [{"uri": desk.path.as_uri(), "range": span(3, 5)}]})
    assert found == CodeAnswer((CodePlace(desk.path, 4, 6, 4),))
    width = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[desk.connection.client.position_encoding]
    position = {"line": 0, "character": 11 + width}
    assert desk.asked == [{"want": ["definition"], "uri": desk.path.as_uri(), "position": position}]


async def test_symbols_of_a_file_are_read_with_those_inside(desk: Desk) -> None:
    area = {"name": "area(self)", "kind": 6, "range": span(1, 3, 0), "selectionRange": span(2, 2)}
    shape = {"name": "Shape", "kind": 5, "range": span(0, 4), "selectionRange": span(0, 0), "children": [area]}
    found = await desk.ask({"symbols": [shape]}, Want.SYMBOLS)
    assert found == CodeAnswer(
        (
            CodePlace(desk.path, 1, 5, 1, "Shape", "class"),
            CodePlace(desk.path, 2, 3, 3, "area", "method", "Shape"),
        )
    )
    assert desk.asked == [{"want": ["symbols"], "uri": desk.path.as_uri()}]


async def test_symbols_of_the_workspace(desk: Desk) -> None:
    listed = [{"name": "area", "kind": 12, "location": {"uri": desk.path.as_uri(), "range": span(0, 1)}}]
    found = await desk.ask({"symbols": [{**listed[0], "containerName": "Shape"}]}, Want.SYMBOLS, query="area")
    assert found == CodeAnswer((CodePlace(desk.path, 1, 2, 1, "area", "function", "Shape"),))
    assert found.places[0].qualified_name == "Shape.area"
    assert desk.asked == [{"want": ["symbols"], "query": "area"}]


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ("Shape", "Shape.area"),
        ("shapes.Shape.area", "shapes.Shape.area"),
        ("area", "area"),
        (None, "area"),
        (7, "area"),
    ],
)
async def test_what_is_around_a_symbol(desk: Desk, container: object, expected: str) -> None:
    place = {"uri": desk.path.as_uri(), "range": span(0, 1)}
    symbol = {"name": "area", "kind": 12, "location": place, "containerName": container}
    found = await desk.ask({"symbols": [symbol]}, Want.SYMBOLS, query="area")
    assert found is not None
    assert [one.qualified_name for one in found.places] == [expected]


async def test_a_call_hierarchy(desk: Desk) -> None:
    item = {"name": "main", "kind": 12, "uri": desk.path.as_uri(), "range": span(0, 1), "selectionRange": span(0, 0)}
    calls = {"incoming": [{"from": item, "fromRanges": [span(1, 1), span(1, 1)]}], "outgoing": [{"to": item}]}
    found = await desk.ask({"callHierarchy": calls}, Want.CALL_HIERARCHY)
    main = CodePlace(desk.path, 1, 2, 1, "main", "function")
    assert found == CodeAnswer((CodePlace(desk.path, 1, 2, 1, "main", "function", "", (2,)),), (main,))
    assert await desk.ask({"callHierarchy": {}}, Want.CALL_HIERARCHY) == CodeAnswer(), "it has neither"


@pytest.mark.parametrize(
    ("want", "value"),
    [
        *((want, value) for want in Want for value in (None, [], 7, "", [None], [{"range": 1}], [{"uri": "x:y"}])),
        (Want.DEFINITION, [{"uri": "file:///a.py", "range": span(5, 2)}]),
        (Want.DEFINITION, [{"uri": "untitled:1", "range": span(1, 2)}]),
    ],
)
async def test_what_says_nothing_is_no_answer(desk: Desk, want: Want, value: Any) -> None:
    assert await desk.ask({want.value: value}, want) is None


async def test_symbols_within_symbols_without_end(desk: Desk) -> None:
    symbol: Json = {"name": "a", "range": span(0, 0)}
    symbol["children"] = [symbol]
    found = await desk.ask({"symbols": [symbol]}, Want.SYMBOLS)
    assert found is not None
    assert len(found.places) == language_servers.DEEPEST + 1


async def test_a_client_that_cannot_is_not_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "clientState")
    assert await desk.ask({"definition": [{"uri": desk.path.as_uri(), "range": span(0, 0)}]}) is None
    assert desk.asked == []


async def test_a_client_that_fails_or_takes_too_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    question = CodeQuestion(Want.HOVER, desk.path)
    desk.connection.answers["tark/clientState"] = refuse
    assert await desk.state.ask_language_servers(question, "") is None
    monkeypatch.setattr(language_servers, "SECONDS", 0.05)
    desk.connection.answers["tark/clientState"] = lambda _: asyncio.Event().wait()
    assert await desk.state.ask_language_servers(question, "") is None
