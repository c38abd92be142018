"""Turns brought to the moments at which a person cancels them or closes the editor."""

import asyncio
import time
from contextlib import suppress

import psutil

from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow
from tests.editors.shapes import SHAPES
from tests.patience import AT_ONCE


async def while_the_model_talks(editor: MemoryEditor) -> str:
    turn = await editor.turn("talk slowly")
    await editor.connection.until(lambda: editor.progress("talk slowly"), "progress")
    await asyncio.sleep(0.2)
    return turn


async def while_a_question_is_open(editor: MemoryEditor) -> str:
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    await editor.question()
    return turn


async def while_a_command_runs(editor: MemoryEditor) -> str:
    editor.policy = allow
    turn = await editor.turn("run a long command")
    await editor.connection.until(lambda: editor.questions, "the question")
    await sleeper_of(editor)
    return turn


async def sleeper_of(editor: MemoryEditor) -> list[psutil.Process]:
    """The processes below the server, once `sleep` is among them."""
    server = psutil.Process(editor.connection.process_id)
    deadline = time.monotonic() + AT_ONCE
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess):  # a program that ran before `sleep` has ended just then
            children = server.children(recursive=True)
            if any(child.name() == "sleep" for child in children):
                return children
        await asyncio.sleep(0.02)
    raise AssertionError(f"no command running\n{editor.connection.transcript()}")
