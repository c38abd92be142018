"""What did not fit into a result is kept under a handle, and read_file reads on there, line by line, to the last."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.result_handles import FROM_THE_WEB, LONGEST_KEPT, LONGEST_LINE, how_to_read, lines_of, result_id
from tark_lsp.tools.results import cap_result, character_limit
from tark_lsp.tools.tool import Risk
from tests.tools.conftest import Bench

READ_ON = re.compile(r'read_file\(path="(?P<path>result:[0-9a-f]{16})", start_line=(?P<line>\d+)\)')


async def read_all(bench: Bench, told: str) -> list[str]:
    """The lines told, then those of every call a result asks for, without the sentences that ask."""
    lines = told.split("\n")
    gathered = lines[:-1]
    while on := READ_ON.search(lines[-1]):
        lines = (await bench.call("read_file", path=on["path"], start_line=int(on["line"]))).split("\n")
        gathered += lines[:-1]
    return gathered


@pytest.mark.parametrize(
    "whole",
    [
        "\n".join(f"line {number}" for number in range(500)),
        "x" * 50_000,
        "first\n" + "y" * 30_000 + "\nlast",
        "\n" * 5_000,
    ],
    ids=["lines", "one line", "a long line", "empty lines"],
)
async def test_all_of_a_capped_result_can_be_read_on(bench: Bench, whole: str) -> None:
    bench.ctx.result_tokens = 300
    told = cap_result(bench.ctx, whole.split("\n"))
    assert len(told) < character_limit(300) + 200
    assert await read_all(bench, told) == lines_of(whole)


async def test_what_fits_has_no_handle(bench: Bench) -> None:
    assert cap_result(bench.ctx, ["a", "b"]) == "a\nb"
    assert cap_result(bench.ctx, []) == ""


async def test_a_line_longer_than_any_result_still_shows_its_beginning(bench: Bench) -> None:
    bench.ctx.result_tokens = 10
    assert cap_result(bench.ctx, ["z" * 5_000]).startswith(
        "z" * 40 + " [cut]\n[5 more lines left out; read on with read_file("
    )


async def test_snippets_are_not_cut_in_two(bench: Bench) -> None:
    bench.ctx.result_tokens = 20
    told = cap_result(bench.ctx, ["a\nb\nc", "d\n" * 100])
    assert told.startswith("a\nb\nc\n[101 more lines left out; read on with ")
    assert READ_ON.search(told)["line"] == "4"  # type: ignore[index]  # a handle is there, or the test fails here


async def test_the_output_of_a_command_is_read_on_where_its_head_ends(bench: Bench) -> None:
    bench.ctx.result_tokens = 100
    told = await bench.call("run_command", command="seq 1 20000")
    on = READ_ON.search(told)
    assert on is not None
    before = told[: on.start()].splitlines()
    shown = await bench.call("read_file", path=on["path"], start_line=int(on["line"]))
    assert int(shown.split("\n")[0]) == int(before[-2]) + 1
    assert told.rstrip().endswith("20000")


async def test_more_output_than_is_kept_is_said_to_be_left_out(bench: Bench) -> None:
    told = await bench.call("run_command", command=f"yes abcdefgh | head -c {2 * LONGEST_KEPT}")
    on = READ_ON.search(told)
    assert on is not None
    kept = bench.ctx.results.find_result(on["path"].removeprefix("result:"))
    assert kept is not None
    assert len(kept) < LONGEST_KEPT + 200
    assert "left out; to see them, run the command again" in kept


@pytest.mark.parametrize(
    ("path", "lines", "code"),
    [
        ("result:0123456789abcdef", {}, "not_found"),
        ("{kept}", {"start_line": 5}, "invalid_arguments"),
        ("{kept}", {"start_line": 3, "end_line": 2}, "invalid_arguments"),
    ],
)
async def test_what_is_not_there_is_told(bench: Bench, path: str, lines: dict[str, int], code: str) -> None:
    kept = bench.ctx.results.keep_result("a\nb\nc")
    failure = await bench.failure("read_file", path=path.format(kept=f"result:{kept}"), **lines)
    assert failure.code == code


async def test_a_handle_reads_nothing_of_the_disk(bench: Bench) -> None:
    kept = bench.ctx.results.keep_result("text")
    bench.write(f"result:{kept}", "a file of that name")
    preview = await bench.preview("read_file", path=f"result:{kept}")
    assert (preview.risk, preview.locations, preview.outside) == (Risk.READ_ONLY, (), ())
    assert await bench.call("read_file", path=f"result:{kept}") == f"text\n[lines 1-1 of 1 of result:{kept}]"
    assert bench.ctx.seen == {}


@given(st.text(max_size=50), st.text(max_size=50))
def test_ids_are_of_the_text_alone(one: str, other: str) -> None:
    assert (result_id(one) == result_id(other)) == (one == other)
    assert READ_ON.fullmatch(how_to_read(result_id(one), 7))


@given(st.lists(st.text(alphabet="ab\r ", max_size=2 * LONGEST_LINE + 5), max_size=4))
def test_no_character_is_lost_between_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    pieces = lines_of(text)
    assert "".join(pieces) == text.replace("\n", "")
    assert max(map(len, pieces)) <= LONGEST_LINE


async def test_a_page_that_is_read_on_is_still_marked_as_one(bench: Bench) -> None:
    """Its later lines can hold instructions as well as its first ones."""
    bench.ctx.result_tokens = 100
    head = f'The content of https://a.example/. {FROM_THE_WEB} The page is too large.\n<page url="https://a.example/">'
    cap_result(bench.ctx, [*head.split("\n"), *(f"line {number}" for number in range(300))])
    (result,) = bench.ctx.results.texts  # type: ignore[attr-defined]  # the store in memory
    on = (await bench.call("read_file", path=f"result:{result}", start_line=100)).split("\n")
    assert "\n".join(on[:2]) == head
    assert on[2] == "line 97"
    assert on[-2] == "</page>"
    again = await bench.call("read_file", path=f"result:{result}", start_line=1)
    assert again.count(FROM_THE_WEB) == 1
