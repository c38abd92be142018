"""Random typing around and in the line a turn wants to change: nothing typed is lost, and no other line is changed."""

from random import Random

import pytest

from tests.editors.behaviour import HONEST, NATIVE, VISUAL_STUDIO_CODE
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.exhaustive import seeds

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

TEXT = "".join(f"line_{number} = {number}\n" for number in range(8))
WANTED, MADE = "line_4 = 4\n", 'line_4 = "four"\n'


def type_somewhere(editor: MemoryEditor, uri: str, random: Random) -> None:
    """One change as a person makes it, often at or in the wanted line."""
    lines = editor.text(uri).splitlines(keepends=True)
    near = [number for number, line in enumerate(lines) if line == WANTED]
    line = random.choice([*range(len(lines)), *near * 4])
    wanted = lines[line] == WANTED
    end = len(lines[line]) - 1
    word = f"new_{random.randrange(10**6)}"
    match random.choice(["above", "enter", "below", "append", "middle", "break", "delete"]):
        case "above":
            editor.type(uri, line, 0, f"{word}\n")
        case "enter":
            editor.type(uri, line, 0, "\n")
        case "below":
            editor.type(uri, line, end, f"\n{word}")
        case "append" if not wanted:
            editor.type(uri, line, end, f"  # {word}")
        case "middle":
            editor.type(uri, line, end // 2, word)
        case "break" if not wanted:
            editor.type(uri, line, end // 2, "\n")
        case "delete" if not wanted:
            place = {"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}}
            editor.replace(uri, place, "")


def expected(text: str) -> tuple[str, str]:
    """The text and the state of the edit, where the person has left `text`."""
    return (text.replace(WANTED, MADE), "applied") if WANTED in text.splitlines(keepends=True) else (text, "failed")


@pytest.mark.property
@pytest.mark.parametrize("seed", seeds(20))
async def test_while_the_question_is_open(open_editor: OpenEditor, seed: int) -> None:
    random = Random(seed)
    editor = await open_editor(VISUAL_STUDIO_CODE, *NATIVE, behaviour=HONEST)
    uri = editor.new_file(TEXT)
    turn = await editor.turn(f"spell the four in {uri.rpartition('/')[2]}", uri)
    question = await editor.question()
    for _ in range(random.randrange(1, 6)):
        type_somewhere(editor, uri, random)
    left = editor.text(uri)
    question.allow()
    end = await editor.end(turn)
    assert (editor.text(uri), end["edits"][0]["state"]) == expected(left)


@pytest.mark.parametrize("seed", range(8))
async def test_at_the_moment_the_edit_arrives(open_editor: OpenEditor, seed: int) -> None:
    random = Random(seed)
    editor = await open_editor(VISUAL_STUDIO_CODE, *NATIVE, behaviour=HONEST)
    uri = editor.new_file(TEXT)
    turn = await editor.turn(f"spell the four in {uri.rpartition('/')[2]}", uri)
    texts: list[str] = []

    def type_once() -> None:
        if not texts:
            type_somewhere(editor, uri, random)
            texts.append(editor.text(uri))

    editor.before_apply = type_once
    (await editor.question()).allow()
    end = await editor.end(turn)
    assert (editor.text(uri), end["edits"][0]["state"]) == expected(texts[0])
