"""How a run ended. Waits until its last process has ended: bubblewrap returns a moment earlier."""

import contextlib
import json
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

WAIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Ending:
    """`has_ended`: the command started and ended by itself. Else the sandbox was not set up, or was killed.

    `problem`: why some processes can still be running; empty if none are.
    """

    has_ended: bool = False
    problem: str = ""


def wait_for_end(info: Path) -> Ending:
    """`info`: the file that bubblewrap wrote with `--json-status-fd`; it is removed. Blocks, so call it in a thread."""
    try:
        text = info.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Ending()  # nothing was started
    info.unlink(missing_ok=True)
    if not text:
        return Ending()
    try:
        status = {name: value for line in text.splitlines() for name, value in json.loads(line).items()}
        process_id = int(status["child-pid"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return Ending(problem="bubblewrap did not report which process it started")
    return Ending("exit-code" in status, _wait_for_process(process_id))


def _wait_for_process(process_id: int) -> str:
    """Wait for the first process of the namespace: it ends only after all others (pid_namespaces(7))."""
    try:
        handle = os.pidfd_open(process_id)
    except ProcessLookupError:
        return ""
    except OSError as error:
        return f"processes of the command can still run: {error.strerror}"
    try:
        if not _is_first_of_namespace(process_id):
            return ""  # another process has the id now
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        ended = waiting.poll(WAIT_SECONDS * 1000)
        return "" if ended else f"processes of the command still run after {WAIT_SECONDS:g} s"
    finally:
        os.close(handle)


def _is_first_of_namespace(process_id: int) -> bool:
    try:
        lines = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    numbers = next((line.split()[1:] for line in lines if line.startswith("NSpid:")), [])
    return len(numbers) > 1 and numbers[-1] == "1"
