"""The chat where nobody sits at a terminal: one prompt from standard input, the answer as plain text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from tark_lsp.cli.chatting.paste import LONGEST_PASTE
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import server
from tark_lsp.cli.turn import run_turn
from tark_lsp.errors import RequestError


async def answer(
    folder: Path, screen: Screen, source: TextIO, settings: Mapping[str, Any], session: str | None, *, last: bool
) -> int:
    """The exit code of the one turn. `session`: an id to go on with. Raises RequestError where there is no prompt, or
    one that is too long."""
    prompt = source.read(LONGEST_PASTE + 1).strip()
    if not prompt:
        raise RequestError("no prompt: this is not a terminal, so it is read from standard input")
    if len(prompt) > LONGEST_PASTE:
        raise RequestError(
            f"the prompt is longer than {LONGEST_PASTE:,} characters",
            hint="save it as a file in this folder and mention it with @file:",
        )
    async with server(folder, screen, yes=False) as (client, person):
        start = {"prompt": prompt, **settings}
        if last or session is not None:
            rows = (await client.command("tark.session.list"))["sessions"]
            found = [row["sessionId"] for row in rows if last or row["sessionId"].startswith(session or " ")]
            if not found:
                raise RequestError("there is no such session in this folder", hint="tark-lsp sessions lists them")
            start["sessionId"] = (await client.command("tark.session.open", {"sessionId": found[0]}))["sessionId"]
        return await run_turn(client, screen, person, start)
