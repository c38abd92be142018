"""Runs one turn in the terminal. Ctrl-C cancels it. At its end, the user decides about edits that are only proposed."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tark_lsp.cli.choices import Hunks
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.screen import Screen
from tark_lsp.server.client import Client

DONE, NOT_DONE = 0, 1


async def run_turn(client: Client, screen: Screen, person: TerminalPerson, start: Mapping[str, Any]) -> int:
    """Starts a turn with `start`, and returns the exit code. Raises ServerError, ServerGone."""
    screen.documents = client.documents
    turn = await client.command("tark.turn.start", start)
    end = await wait_for_end(client, screen, turn["turnId"])
    screen.show_end(end)
    if end["stopReason"] != "end_turn":
        return NOT_DONE
    decided = await decide_pending(client, screen, person, turn["turnId"])
    states = {edit["state"] for edit in end.get("edits") or ()} - {"pending"}
    refused = decided is False or (states and states <= {"rejected", "failed"})
    return NOT_DONE if refused else DONE


async def wait_for_end(client: Client, screen: Screen, turn_id: str, *, cancelled: bool = False) -> Mapping[str, Any]:
    """Waits for the turn's end (protocol.md), and returns it. Ctrl-C cancels the turn. A second Ctrl-C kills the server
    and raises CancelledError. `cancelled`: Ctrl-C was pressed while the turn started. Raises ServerError, ServerGone.
    """
    waiting, cancelling = asyncio.current_task(), list[asyncio.Task[Any]]()

    def interrupted() -> None:
        if cancelling and waiting:
            client.process.kill()
            waiting.cancel()
        else:
            cancelling.append(asyncio.create_task(client.command("tark.turn.cancel", {"turnId": turn_id})))
            screen.print_line("cancelling; Ctrl-C again ends the program at once", "yellow")

    with on_interrupt(interrupted):
        if cancelled:
            interrupted()
        end: Mapping[str, Any] = await client.command("tark.turn.wait", {"turnId": turn_id})
        await asyncio.gather(*cancelling)
    return end


async def decide_pending(client: Client, screen: Screen, person: TerminalPerson, turn_id: str) -> bool | None:
    """Asks about the hunks that the modes ask and plan only propose. None if there are none, else as `decide`."""
    if not (pending := person.pending(turn_id)):
        return None
    return await decide(client, screen, person, pending)


async def decide(client: Client, screen: Screen, person: TerminalPerson, pending: Hunks) -> bool | None:
    """Asks about these hunks. Returns whether any was applied; None if nobody can be asked."""
    if not person.can_review:
        for uri, hunk in pending:
            screen.show_hunk(uri, hunk)
        screen.print_line("proposed, not written", "yellow")
        return None
    chosen = await person.choose_hunks(pending)
    if chosen is None:
        screen.print_line("not decided: nothing is written or rejected", "yellow")
        return False
    if refused := [hunk["hunkId"] for _, hunk in pending if hunk["hunkId"] not in chosen.ids]:
        await client.command("tark.hunk.reject", {"hunkIds": refused})
    if not chosen.ids:
        return False
    for hunk_id in chosen.ids:
        if (text := chosen.edited.get(hunk_id)) is not None:
            await client.command("tark.hunk.edit", {"hunkId": hunk_id, "newText": text})
    answer = await client.command("tark.hunk.accept", {"hunkIds": chosen.ids})
    for skipped in answer["skipped"]:
        screen.message(f"not applied: {skipped['reason']}", 2)
    screen.print_line(f"{len(answer['hunks'])} of {len(pending)} hunks applied")
    return bool(answer["hunks"])


@contextmanager
def on_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Inside the context, Ctrl-C calls `call` in the running event loop."""
    loop = asyncio.get_running_loop()
    before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
