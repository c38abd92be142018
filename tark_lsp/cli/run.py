"""`tark-lsp run [FILE[:START-END] | GLOB]... PROMPT`: one turn, for users and scripts (docs/scripting.md)."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.model_check import check_model
from tark_lsp.cli.running.allowed_commands import AllowedCommands
from tark_lsp.cli.running.interruption import Interruption, ProgressConsole
from tark_lsp.cli.running.options import RunOptions, new_parser, parse_options
from tark_lsp.cli.running.output import RunOutput, RunScreen
from tark_lsp.cli.running.person import RunPerson
from tark_lsp.cli.running.result import ExitCode, error_of
from tark_lsp.cli.running.targets import find_targets, read_standard_input, turn_fields
from tark_lsp.cli.session_lookup import open_session
from tark_lsp.cli.turn import decide_pending, on_interrupt, wait_for_end
from tark_lsp.cli.usable_settings import load_usable_settings
from tark_lsp.errors import TarkError
from tark_lsp.server.client import Client, ServerGone

__all__ = ["main", "new_parser"]

WAITING = "waiting for the end of standard input; </dev/null says that there is none"


def main(arguments: Sequence[str]) -> int:
    options = parse_options(arguments)
    folder = Path(os.path.realpath(Path.cwd()))
    live = options.output == "text" and not options.quiet and sys.stdout.isatty() and sys.stderr.isatty()
    interruption = Interruption()
    console = ProgressConsole(interruption.output_closed, quiet=options.quiet and not _can_ask())
    screen = RunScreen(console, folder, live=live, quiet=options.quiet)
    output = RunOutput(options.output, screen, folder, closed=interruption.output_closed)
    interruption.listen()
    _run_to_result(options, folder, screen, output)
    interruption.stop()
    output.result.cancelled_code = interruption.code
    try:
        code = output.finish()
    except OSError as error:
        output.give_up(error)
        return ExitCode.CLOSED
    return ExitCode.CLOSED if interruption.code is ExitCode.CLOSED else code


def _run_to_result(options: RunOptions, folder: Path, screen: RunScreen, output: RunOutput) -> None:
    """Runs the turn. Errors become the error of the result."""
    try:
        load_usable_settings(folder)
        fields = turn_fields(find_targets(options.targets, folder))
        if given := read_standard_input(lambda: screen.print_line(WAITING, "yellow")):
            fields["context"].append({"type": "text", "name": "standard input", "text": given})
        asyncio.run(_run(options, folder, fields, screen, output))
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen.print_line("cancelled", "yellow")
        output.result.end = {**output.result.end, "stopReason": "cancelled"}
    except (TarkError, TimeoutError, OSError) as error:
        output.result.error = error_of(error)


async def _run(
    options: RunOptions, folder: Path, fields: Mapping[str, Any], screen: RunScreen, output: RunOutput
) -> None:
    person = RunPerson(
        screen,
        Keyboard(sys.stderr) if _can_ask() else None,
        yes=options.yes or options.patch,
        allowed=AllowedCommands(options.allow),
        limited=options.max_usd is not None or options.max_requests is not None,
        follow=output.update,
    )
    async with await Client.start(folder, person, settings=options.settings, in_memory=options.patch) as client:
        await check_model(client, options.model, screen, force=options.force_model)
        start = {"prompt": options.prompt, "model": options.model, "mode": options.mode, **fields}
        if options.last or options.resume is not None:
            start["sessionId"] = await open_session(client, options.resume)
        early: list[bool] = []
        # While it starts, Ctrl-C waits for the ids of the turn and its session. Again, it kills the server.
        with on_interrupt(lambda: client.process.kill() if early else early.append(True)):
            turn = await client.command(
                "tark.turn.start", {name: value for name, value in start.items() if value is not None}
            )
        output.begin(turn["sessionId"], turn["turnId"])
        await _finish_turn(options, client, person, screen, output, cancelled=bool(early))


async def _finish_turn(
    options: RunOptions, client: Client, person: RunPerson, screen: RunScreen, output: RunOutput, *, cancelled: bool
) -> None:
    result = output.result
    assert result.turn_id is not None
    try:
        result.end = await wait_for_end(client, screen, result.turn_id, cancelled=cancelled)
        result.error = result.end.get("error")
        if result.end["stopReason"] == "end_turn":
            result.rejected_proposal = await decide_pending(client, screen, person, result.turn_id) is False
        screen.show_end({**result.end, "error": None})
        if options.patch and result.exit_code in (ExitCode.DONE, ExitCode.REFUSED):
            result.patch = (await client.command("tark.patch"))["patch"]
    finally:
        if not options.keep_session:
            with contextlib.suppress(ServerGone):
                await client.command("tark.session.delete", {"sessionId": result.session_id})


def _can_ask() -> bool:
    """Whether a user can see a question and type the answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
