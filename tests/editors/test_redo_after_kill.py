"""Undo and redo of a turn of many steps, each by another server; most servers are killed before or amid the next step.

The user types below a line while the agent's part above it is undone and done again: what was typed always stays.
"""

import asyncio
import random
from pathlib import Path

import pytest

from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import Question
from tests.editors.test_undo_after_kill import Plan, open_on, start_files, tree, write_home

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

STEPS = 16
OPEN = [f"file_{number}.py" for number in range(4)]
"""The agent neither moves nor deletes these."""


async def kill(editor: MemoryEditor) -> None:
    editor.connection._process.kill()
    await editor.connection.exited(60)
    await editor.connection.stop()


def typed_into(files: dict[str, tuple[bytes, int]], words: dict[str, bytes]) -> dict[str, tuple[bytes, int]]:
    return {name: (data + words.get(name, b""), mode) for name, (data, mode) in files.items()}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
async def test_by_servers_that_are_killed(tmp_path: Path, seed: int) -> None:
    folder, home = tmp_path.resolve() / "workspace", tmp_path.resolve() / "home"
    folder.mkdir()
    files, chance = start_files(folder), random.Random(seed)
    plan = Plan(chance, {name: list(lines) for name, lines in files.items()}, {*files} - {*OPEN})
    for _ in range(STEPS):
        plan.step()
    write_home(home, plan.calls)
    before = tree(folder)
    editor = await open_on(folder, home)
    editor.policy = Question.allow
    turn = await editor.turn("do it")
    assert (await editor.end(turn, 120))["text"] == "All done."
    session = (await editor.command("tark.session.list", {}))["sessions"][0]["sessionId"]
    await kill(editor)
    after, words = tree(folder), dict[str, bytes]()
    assert after != before

    for round_ in range(3):
        for command, expected, undone in (("undo", before, "all"), ("redo", after, None)):
            editor = await open_on(folder, home)
            work = asyncio.ensure_future(editor.command(f"tark.turn.{command}", {"turnId": turn}))
            await asyncio.wait({work}, timeout=chance.random() * 0.1)  # killed amid it, or a little later
            await kill(editor)
            await asyncio.wait({work})
            work.cancelled() or work.exception()
            editor = await open_on(folder, home)
            answer: Json = await editor.command(f"tark.turn.{command}", {"turnId": turn})
            assert answer["kept"] == []
            assert tree(folder) == typed_into(expected, words)
            opened = await editor.command("tark.session.open", {"sessionId": session})
            assert [item.get("undone") for item in opened["turns"]] == [undone]
            await kill(editor)
            name = chance.choice(OPEN)
            words[name] = words.get(name, b"") + f"\ntyped in round {round_}".encode()
            (folder / name).write_bytes(typed_into(expected, words)[name][0])
