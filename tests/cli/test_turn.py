"""Ctrl-C in a turn of a server that does not accept a cancel."""

import asyncio
import io
import os
import signal
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import run_turn, wait_for_end
from tark_lsp.server.client import Client
from tests.cli.test_client import TOY
from tests.patience import AT_ONCE


async def test_ctrl_c_while_a_turn_starts_cancels_it(tmp_path: Path) -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out), tmp_path)
    async with await Client.start(tmp_path, TerminalPerson(screen, None, yes=False), argv=TOY) as client:
        turn = asyncio.create_task(wait_for_end(client, screen, "t", cancelled=True))
        while "cancelling" not in out.getvalue():  # noqa: ASYNC110 - a screen has no event to wait for
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)  # the second one
        async with asyncio.timeout(AT_ONCE):
            with pytest.raises(asyncio.CancelledError):
                await turn


async def test_a_second_ctrl_c_ends_everything_at_once(tmp_path: Path) -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out), tmp_path)
    person = TerminalPerson(screen, None, yes=False)
    before = signal.getsignal(signal.SIGINT)
    async with await Client.start(tmp_path, person, argv=TOY) as client:
        turn = asyncio.create_task(run_turn(client, screen, person, {"prompt": "x"}))
        for words in ("waiting", "cancelling"):
            while words not in out.getvalue():  # noqa: ASYNC110 - a screen has no event to wait for
                await asyncio.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(AT_ONCE):
            with pytest.raises(asyncio.CancelledError):
                await turn
            await client.process.wait()  # before anybody asks it to end
    assert not psutil.pid_exists(client.process.pid)
    assert signal.getsignal(signal.SIGINT) is before
