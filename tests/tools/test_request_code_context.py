"""request_code_context: its JSON, its budget, and what it must not show."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tark_lsp.agent.arguments import parse_arguments
from tark_lsp.index.model import Found, Hit
from tark_lsp.index.questions import Question, Search
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.tools.request_code_context import TOOL, FoundCode, RequestCodeContextArguments, _fit_results
from tests.tools.conftest import Bench

T = TypeVar("T")
CODE = "import os\n\n\ndef area(width, height):\n    return width * height\n\n\ndef name():\n    return 'x'\n"


@dataclass
class ListedIndex:
    """Answers each search with the same hits, and remembers the questions."""

    answer: Callable[[], Found[Hit]]
    asked: list[Search] = field(default_factory=list)

    async def status(self) -> IndexStatus:
        return IndexStatus(IndexState.READY)

    async def ask(self, question: Question[T]) -> Found[T]:
        assert isinstance(question, Search)
        self.asked.append(question)
        return self.answer()  # type: ignore[return-value]  # the only question of this tool has hits as its answer


def with_hits(bench: Bench, hits: Sequence[Hit], share: float = 1.0, notes: tuple[str, ...] = ()) -> ListedIndex:
    index = ListedIndex(lambda: Found(hits[: index.asked[-1].limit], share=share, notes=notes))
    bench.ctx.index = index
    return index


def hit(path: Path, start: int, end: int, symbol: str = "", score: float = 1.0) -> Hit:
    return Hit(path, start, end, symbol, score)


async def found(bench: Bench, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(await bench.call("request_code_context", **arguments))
    return answer


async def test_the_shape_of_the_answer(bench: Bench) -> None:
    path = bench.write("src/shapes.py", CODE)
    index = with_hits(bench, [hit(path, 4, 5, "area", 2.34567), hit(path, 8, 9, "name")])
    answer = await found(bench, query="how is the area computed")
    first, second = answer.pop("results")
    assert answer == {"ok": True, "query": "how is the area computed", "top_k": 20}
    assert index.asked[0].query == "how is the area computed"
    assert list(first) == ["id", "score", "path", "start_line", "end_line", "snippet"]
    assert (first["score"], first["path"], first["start_line"], first["end_line"]) == (2.3457, "src/shapes.py", 4, 5)
    assert first["snippet"] == (f'<code="{path}" #4:5>\ndef area(width, height):\n    return width * height\n</code>')
    assert first["id"] != second["id"]


@pytest.mark.parametrize(("budget", "expected"), [(100, 5), (999, 5), (1200, 6), (4000, 20), (4199, 20), (100_000, 20)])
async def test_top_k_follows_the_budget(bench: Bench, budget: int, expected: int) -> None:
    path = bench.write("many.py", "".join(f"a{number} = 1\n" for number in range(40)))
    with_hits(bench, [hit(path, number, number) for number in range(1, 41)])
    answer = await found(bench, query="a", token_budget=budget)
    assert answer["top_k"] == expected
    assert len(answer["results"]) <= expected
    if budget >= 1200:
        assert len(answer["results"]) == expected


def test_the_query_has_an_alias() -> None:
    assert parse_arguments(TOOL, '{"hint": "area"}').query == "area"
    assert parse_arguments(TOOL, '{"query": "area"}').query == "area"
    assert list(TOOL.definition.parameters["properties"]) == ["query", "token_budget"]
    with pytest.raises(ValidationError):
        RequestCodeContextArguments.model_validate({"query": "x", "token_budget": 5})


async def test_without_a_query_it_is_the_last_message_of_the_user(bench: Bench) -> None:
    index = with_hits(bench, [])
    bench.ctx.user_message = "where is the area computed?"
    assert (await found(bench))["query"] == "where is the area computed?"
    assert index.asked[0].query == "where is the area computed?"
    assert (await found(bench, query="  "))["query"] == "where is the area computed?"
    bench.ctx.user_message = ""
    assert (await bench.failure("request_code_context")).code == "invalid_arguments"


async def test_without_an_index_it_says_what_to_use(bench: Bench) -> None:
    failure = await bench.failure("request_code_context", query="area")
    assert (failure.code, failure.hint) == ("unsupported", "use search_text and read_file")


async def test_rules_hide_files(bench: Bench) -> None:
    shown, denied, asked = (bench.write(name, CODE) for name in ("a.py", "denied.py", "asked.py"))
    with_hits(bench, [hit(path, 4, 5, "area") for path in (denied, asked, shown, bench.root.parent / "outside.py")])
    bench.ctx.is_read_denied = lambda path: path.name == "denied.py"
    bench.ctx.is_read_asked = lambda path: path.name == "asked.py"
    bench.ctx.may_hide_below = lambda _: True
    answer = await found(bench, query="area")
    assert [result["path"] for result in answer["results"]] == ["a.py"]
    assert "denied.py" not in json.dumps(answer)
    assert "hides" in answer["note"]


async def test_a_link_shows_no_hidden_file(bench: Bench) -> None:
    secret = bench.write("denied.py", CODE)
    link = bench.root / "link.py"
    link.symlink_to(secret)
    with_hits(bench, [hit(link, 1, 5)])
    bench.ctx.is_read_denied = lambda path: path.name == "denied.py"
    assert (await found(bench, query="area"))["results"] == []


async def test_secrets_are_masked(bench: Bench) -> None:
    key = "sk-ant-api03-" + "Ab3" * 31 + "AA"
    path = bench.write("keys.py", f"def connect():\n    return client('{key}')\n")
    with_hits(bench, [hit(path, 1, 2, "connect")])
    answer = await found(bench, query="connect")
    assert key not in json.dumps(answer)
    assert "def connect" in answer["results"][0]["snippet"]


async def test_unsaved_text_and_drafts_are_shown(bench: Bench) -> None:
    path = bench.write("shapes.py", CODE)
    with_hits(bench, [hit(path, 4, 5, "area")])
    bench.buffers.open(path, CODE.replace("width * height", "height * width"))
    assert "height * width" in (await found(bench, query="area"))["results"][0]["snippet"]
    await bench.edit("edit_file", path="shapes.py", old_text="import os\n", new_text="import os\nimport re\n")
    result = (await found(bench, query="area"))["results"][0]
    assert (result["start_line"], result["end_line"]) == (5, 6)
    assert "def area" in result["snippet"]
    await bench.edit(
        "edit_file", path="shapes.py", old_text="    return height * width\n", new_text="    a = 1\n    return a\n"
    )
    result = (await found(bench, query="area"))["results"][0]
    assert (result["start_line"], result["end_line"]) == (4, 6) or "return a" in result["snippet"]


async def test_ids_stay_while_the_code_does(bench: Bench) -> None:
    path = bench.write("shapes.py", CODE)
    with_hits(bench, [hit(path, 4, 5, "area")])
    first = (await found(bench, query="area"))["results"][0]["id"]
    bench.write("shapes.py", "import re\n" + CODE)
    with_hits(bench, [hit(path, 5, 6, "area", 9.0)])
    assert (await found(bench, query="other"))["results"][0]["id"] == first


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are not UTF-8")
async def test_a_file_whose_name_is_not_utf_8(bench: Bench) -> None:
    path = bench.write("bad\udcff.py", CODE)
    with_hits(bench, [hit(path, 4, 5, "area")])
    (result,) = (await found(bench, query="area"))["results"]
    assert result["path"] == "bad\udcff.py"


async def test_an_index_that_is_not_whole_says_so(bench: Bench) -> None:
    path = bench.write("shapes.py", CODE)
    with_hits(bench, [hit(path, 4, 5, "area")], share=0.4, notes=("Dense vectors are missing.",))
    answer = await found(bench, query="area")
    assert answer["indexed"] == 0.4
    assert answer["note"].startswith("Dense vectors are missing. ")
    with_hits(bench, [], share=0.999)
    assert (await found(bench, query="area"))["indexed"] < 1


async def test_gone_files_and_lines_are_left_out(bench: Bench) -> None:
    path = bench.write("short.py", "x = 1\n")
    with_hits(bench, [hit(bench.root / "gone.py", 1, 2), hit(path, 50, 60), hit(path, 1, 20)])
    (result,) = (await found(bench, query="x"))["results"]
    assert (result["start_line"], result["end_line"]) == (1, 1)


async def test_a_long_piece_is_cut_at_a_line(bench: Bench) -> None:
    path = bench.write("long.py", "".join(f"    value_{number} = compute({number})\n" for number in range(500)))
    with_hits(bench, [hit(path, 1, 500, "compute")])
    text = await bench.call("request_code_context", query="compute", token_budget=500)
    answer = json.loads(text)
    (result,) = answer["results"]
    assert len(text) <= 500 * 4
    assert 3 <= result["end_line"] < 500
    assert result["snippet"].count("\n") == result["end_line"] - result["start_line"] + 2
    assert "raise token_budget" in answer["note"]


@given(
    pieces=st.lists(st.lists(st.text(max_size=60), min_size=1, max_size=30), max_size=20),
    notes=st.lists(st.text(max_size=80), max_size=3),
    query=st.text(max_size=400),
    budget=st.integers(100, 3000),
)
def test_any_answer_is_json_within_the_budget(
    pieces: list[list[str]], notes: list[str], query: str, budget: int
) -> None:
    limit = budget * 4
    answer: dict[str, Any] = {"ok": True, "query": query[: limit // 8], "top_k": 20, "results": []}
    code = [FoundCode(str(at), 1.0, Path("/w/a.py"), "a.py", 1, lines) for at, lines in enumerate(pieces)]
    shown = _fit_results(answer, notes, code, limit)
    text = json.dumps(answer, ensure_ascii=False)
    assert len(text) <= limit
    assert [result["id"] for result in answer["results"]] == [one.id for one in code[:shown]]
    assert shown == len(code) or "token_budget" in answer.get("note", "token_budget")
