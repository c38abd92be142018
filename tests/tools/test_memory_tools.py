"""save_memory and search_memory: what is shown, what is refused, what is said afterwards, what is found."""

from datetime import date
from pathlib import Path

import pytest

from tark_lsp.agent.user_interface import preview_digest
from tark_lsp.context.memory import Memory
from tark_lsp.errors import WorkspaceError
from tark_lsp.tools.tool import Risk, ToolKind
from tests.tools.conftest import Bench

DAY = "2026-11-28"


@pytest.fixture
def told(bench: Bench, tmp_path: Path) -> list[str]:
    """What the person was told; the memory is below `tmp_path`."""
    said: list[str] = []
    bench.ctx.memory = Memory(
        bench.ctx.workspace, lambda: tmp_path.resolve() / "state", lambda: date.fromisoformat(DAY)
    )
    bench.ctx.notify_user = said.append
    return said


async def test_a_note_is_shown_whole_kept_and_said(bench: Bench, told: list[str]) -> None:
    note = "The tests need\n  make data. \u202e"
    preview = await bench.preview("save_memory", text=note, tags=["tests"])
    assert (preview.title, preview.note) == (
        "save_memory The tests need ⏎ make data. #tests",
        "The tests need\n  make data. ",
    )
    assert (preview.risk, preview.kind, preview.edits, preview.command) == (Risk.WRITE, ToolKind.OTHER, (), None)
    assert await bench.call("save_memory", text=note, tags=["tests"]) == "The note is kept."
    memory = bench.ctx.memory
    assert memory is not None
    assert told == [f"kept for later sessions in {memory.path}: The tests need ⏎ make data. #tests"]
    assert memory.path.read_text(encoding="utf-8").endswith(f"\n- {DAY} #tests The tests need\n    make data.\n")
    assert await bench.call("save_memory", text=note, tags=["tests"]) == "This note already exists."
    assert len(told) == 1


async def test_an_answer_is_bound_to_the_note(bench: Bench, told: list[str]) -> None:
    one, other = [await bench.preview("save_memory", text=text) for text in ("a b", "a  b")]
    assert preview_digest(one) != preview_digest(other)
    assert told == []


@pytest.mark.parametrize(
    ("text", "tags", "code", "said"),
    [
        ("the key is " + "sk-" + "ant-api03-aB3dE5gH7jK9mN1p", [], "denied", "seems to contain a token"),
        ("the key", ["gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9abcdef123"], "denied", "seems to contain a token"),
        ("pass" + "word = h4nter2-today", [], "denied", "seems to contain a password or key"),
        (" \n\u200b", [], "invalid_arguments", "text is empty"),
    ],
)
async def test_what_is_not_kept(
    bench: Bench, told: list[str], text: str, tags: list[str], code: str, said: str
) -> None:
    failure = await bench.failure("save_memory", text=text, tags=tags)
    assert failure.code == code
    assert said in failure.message
    assert told == []
    assert bench.ctx.memory is not None
    assert not bench.ctx.memory.path.exists()


async def test_a_note_has_an_end(bench: Bench, told: list[str]) -> None:
    for arguments in ({"text": "x" * 2001}, {"text": ""}, {"text": "x", "tags": ["x"] * 11}):
        with pytest.raises(ValueError, match="validation error"):
            await bench.call("save_memory", **arguments)
    assert told == []


@pytest.mark.parametrize("name", ["save_memory", "search_memory"])
async def test_without_a_folder_there_is_no_memory(bench: Bench, name: str) -> None:
    assert (await bench.failure(name, **{"text" if name == "save_memory" else "query": "x"})).code == "unsupported"


async def test_search(bench: Bench, told: list[str]) -> None:
    assert await bench.call("search_memory", query="build") == "There are no notes about this workspace yet."
    await bench.call("save_memory", text="The build\nneeds make.", tags=["build"])
    await bench.call("save_memory", text="Use tabs.")
    assert await bench.call("search_memory", query="cats") == "None of the 2 notes contains any of these words."
    assert (await bench.call("search_memory", query="How is the BUILD made?")).split("\n") == [
        "1 of 2 notes, best first (with the found words in brackets):",
        f"- {DAY} #build The build needs make. (the, build)",
    ]
    bench.ctx.result_tokens = 20
    assert "left out; search for fewer words, or read on" in await bench.call("search_memory", query="use build the")
    assert len(told) == 2


async def test_what_the_person_edits_by_hand_is_found_at_once(bench: Bench, told: list[str]) -> None:
    await bench.call("save_memory", text="Use tabs.")
    memory = bench.ctx.memory
    assert memory is not None
    memory.path.write_text("- Use spaces.\n", encoding="utf-8")
    assert await bench.call("search_memory", query="use tabs") == (
        "1 of 1 note, best first (with the found words in brackets):\n- Use spaces. (use)"
    )
    assert told


async def test_a_memory_that_cannot_be_read_is_an_error(bench: Bench, told: list[str]) -> None:
    memory = bench.ctx.memory
    assert memory is not None
    memory.path.parent.mkdir(parents=True)
    memory.path.write_bytes(b"\xff\xfe\xff")
    for name, argument in (("search_memory", "query"), ("save_memory", "text")):
        assert isinstance(await bench.failure(name, **{argument: "x"}), WorkspaceError)
    assert told == []
