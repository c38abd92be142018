"""What tests of sessions do with a desk: run turns to their end, open sessions, look at rows, take leases away."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.folders import sessions_path
from tests.patience import AT_ONCE
from tests.server.desk import Desk
from tests.server.scripted import Json

NOBODY = 2**22 + 1
"""More than any process has as its number."""


async def run(desk: Desk, prompt: str, session_id: str | None = None, **more: Any) -> str:
    """One turn to its end; its session's id."""
    about = {} if session_id is None else {"sessionId": session_id}
    started = await desk.command("tark.turn.start", {"prompt": prompt, **about, **more})
    await desk.end(started["turnId"])
    return str(started["sessionId"])


async def talking(desk: Desk, turn_id: str) -> None:
    """Once some words of its answer are out."""
    async with asyncio.timeout(AT_ONCE):
        while len(desk.updates(turn_id, "text")) < 3:  # noqa: ASYNC110  # a state of the server's, which tells nobody
            await asyncio.sleep(0.01)


async def opened(desk: Desk, session_id: str) -> Json:
    return dict(await desk.command("tark.session.open", {"sessionId": session_id}))


async def listed(desk: Desk, **more: Any) -> list[Json]:
    return list((await desk.command("tark.session.list", more))["sessions"])


async def refused(desk: Desk, name: str, **argument: Any) -> str:
    with pytest.raises(RequestError) as caught:
        await desk.command(name, argument)
    return str(caught.value)


def said(session: Json) -> list[tuple[str, str]]:
    return [(message["role"], message["text"]) for message in session["messages"]]


def sql(statement: str, *values: Any) -> list[Any]:
    """Beside all servers."""
    with sqlite3.connect(sessions_path()) as connection:
        rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


def process_is_gone(session_id: str) -> None:
    """As if the process that has the session had been killed."""
    sql("UPDATE leases SET pid = ? WHERE session = ?", NOBODY, session_id)


def private(path: Path) -> bool:
    return path.stat().st_mode & 0o777 == 0o600
