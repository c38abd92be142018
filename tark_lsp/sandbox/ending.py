"""Waits until the last process of a run is gone: bubblewrap returns a moment earlier."""

import contextlib
import json
import os
import select
import signal
from pathlib import Path

WAIT_SECONDS = 5.0


def wait_for_end(info: Path) -> str:
    """`info`: what bubblewrap wrote with `--info-fd`; it is removed. Blocks: call it in a thread.

    The first process of the namespace is gone only after all others (pid_namespaces(7)). Returns why some can still
    run; empty if none does.
    """
    try:
        text = info.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""  # nothing was started
    info.unlink(missing_ok=True)
    try:
        process_id = int(json.loads(text)["child-pid"])
    except (ValueError, KeyError, TypeError):
        return "" if not text else "bubblewrap did not say which process it started"
    try:
        handle = os.pidfd_open(process_id)
    except ProcessLookupError:
        return ""
    except OSError as error:
        return f"processes of the command can still run: {error.strerror}"
    try:
        if not _is_first_of_namespace(process_id):
            return ""  # another process has the number now
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
