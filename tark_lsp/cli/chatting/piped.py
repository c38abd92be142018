"""The chat where nobody sits at a terminal: one prompt from standard input, the answer as plain text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from tark_lsp.cli.chatting.paste import LONGEST_PASTE
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import server
from tark_lsp.cli.turn import run_turn
from tark_lsp.cli.which_session import chosen
from tark_lsp.errors import RequestError


async def answer(
    folder: Path, screen: Screen, source: TextIO, settings: Mapping[str, Any], session: str | None, *, last: bool
) -> int:
    """The exit code of the one turn. `session`: an id or title to go on with. Raises RequestError where there is no
    prompt, one that is too long, or no such session."""
    prompt = source.read(LONGEST_PASTE + 1).strip()
    if not prompt:
        raise RequestError("no prompt: this is not a terminal, so it is read from standard input")
    if len(prompt) > LONGEST_PASTE:
        raise RequestError(
            f"the prompt is longer than {LONGEST_PASTE:,} characters",
            hint="save it as a file in this folder and mention it with @file:",
        )
    async with server(folder, screen, yes=None) as (client, person):
        start = {"prompt": prompt, **settings}
        if last or session is not None:
            rows = (await client.command("tark.session.list"))["sessions"]
            titles = {row["sessionId"]: row.get("title") or "" for row in rows}
            if last and not titles:
                raise RequestError(
                    "there is no session in this folder", hint="tark-lsp sessions --all lists all of them"
                )
            found = next(iter(titles)) if last else chosen(titles, session or "")
            start["sessionId"] = (await client.command("tark.session.open", {"sessionId": found}))["sessionId"]
        return await run_turn(client, screen, person, start)
