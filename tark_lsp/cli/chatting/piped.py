"""The chat without a terminal: one prompt from standard input, the answer as plain text."""

from pathlib import Path
from typing import TextIO

from tark_lsp.cli.chatting.chat_start import ChatStart
from tark_lsp.cli.chatting.paste_limit import MAX_PASTE
from tark_lsp.cli.model_check import check_model
from tark_lsp.cli.runtime import running_server
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session_lookup import open_session
from tark_lsp.cli.turn import run_turn
from tark_lsp.errors import RequestError


async def answer_from_stdin(folder: Path, screen: Screen, source: TextIO, wanted: ChatStart) -> int:
    """Runs one turn and returns the exit code. Raises RequestError if the prompt is missing or too long, or the session
    or model does not exist.
    """
    prompt = source.read(MAX_PASTE + 1).strip()
    if not prompt:
        raise RequestError("no prompt: without a terminal, the prompt is read from standard input, which is empty")
    if len(prompt) > MAX_PASTE:
        raise RequestError(
            f"the prompt is longer than {MAX_PASTE:,} characters",
            hint="save it as a file in this folder and mention it with @file:",
        )
    async with running_server(folder, screen, yes=None) as (client, person):
        await check_model(client, wanted.settings.get("model"), screen, force=wanted.force_model)
        start = {"prompt": prompt, **wanted.settings}
        if wanted.last or wanted.resume is not None:
            start["sessionId"] = await open_session(client, None if wanted.last else wanted.resume)
        return await run_turn(client, screen, person, start)
