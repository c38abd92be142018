"""Closing the editor while a turn runs: the server ends without waiting for the turn and leaves no process behind.

The last file by its name, so that the servers it ends are those that the other tests have done with.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable

import pytest

from tests.editors.behaviour import HELIX, NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.moments import sleeper_of, while_a_command_runs, while_a_question_is_open
from tests.editors.pool import Pool

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)


async def by_exit(editor: MemoryEditor) -> int:
    return await editor.close()


async def by_end_of_input(editor: MemoryEditor) -> int:
    editor.connection.close_input()
    return await editor.connection.exited()


@each_profile
@pytest.mark.parametrize(
    ("flags", "close", "code"),
    [((), by_exit, 0), (NATIVE, by_end_of_input, 1)],
    ids=["exit", "end-of-input"],
)
async def test_closing_the_editor(
    open_editor: OpenEditor,
    profile: Profile,
    flags: tuple[str, ...],
    close: Callable[[MemoryEditor], Awaitable[int]],
    code: int,
) -> None:
    editor = await open_editor.to_end(profile, *flags)
    await while_a_command_runs(editor)
    children = await sleeper_of(editor)
    assert await close(editor) == code
    assert [child for child in children if child.is_running()] == []


async def test_an_editor_that_dies(pool: Pool) -> None:
    """Its input may stay open (another process holds the pipe), but `processId` is gone."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    editor = await pool.start(NEOVIM, frozenset(), NEOVIM.behaviour, process_id=process.pid)
    await while_a_command_runs(editor)
    children = await sleeper_of(editor)
    process.kill()
    await process.wait()
    assert await editor.connection.exited() == 1
    assert [child for child in children if child.is_running()] == []
    await editor.connection.stop()


async def test_closing_while_a_question_is_open(open_editor: OpenEditor) -> None:
    editor = await open_editor.to_end(HELIX)
    await while_a_question_is_open(editor)
    assert await editor.close() == 0
