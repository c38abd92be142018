"""Leases: only one process at a time writes a session.

A lease is a row. Each write checks in its own transaction that the row still belongs to this process. So a clock that
jumps, a process that slept or a wrong guess about an ended process can cost a process its lease, but never leads to two
writers.
"""

import os
import secrets
import socket
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.processes import is_alive
from tark_lsp.sessions.rows import Holder, SessionHeld

if TYPE_CHECKING:
    from sqlite3 import Connection

RENEWAL_SECONDS = 5.0
"""How often a process renews its leases."""
STALE_SECONDS = 30.0
"""A process of another machine that has not renewed for this time counts as gone. So does a process whose last renewal
is this far in the future, because one of the clocks is wrong."""
UNKNOWN_SECONDS = 300.0
"""The same if a process with that number exists, but the system does not report whether it is the same process."""
ALL = "SELECT session, owner, pid, host, machine, started, beat FROM leases"
LEASE = "SELECT owner, pid, host, beat FROM leases WHERE session = ?"
TAKE = "INSERT OR REPLACE INTO leases (session, owner, pid, host, machine, started, beat) VALUES (?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Process:
    """A process that writes sessions. `pid` is unique on `machine`. `started` is its start time as the machine counts,
    or "" if unknown."""

    owner: str = field(default_factory=lambda: secrets.token_hex(8))
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)
    machine: str = field(default_factory=lambda: machine())
    started: str = field(default_factory=lambda: started_at(os.getpid()))


class Leases:
    def __init__(self) -> None:
        self._us: Process | None = None
        self.held: set[str] = set()
        """The ids of sessions that this process held at its last check."""

    def acquire(self, connection: "Connection", session_id: str) -> Holder | None:
        """Acquire the lease. Returns None if this process holds it now, else the process that does."""
        holder = self.holder(connection, session_id)
        if holder is None:
            us = self._process()
            values = (us.owner, us.pid, us.host, us.machine, us.started, time.time())
            connection.execute(TAKE, (session_id, *values))
        return holder

    def holder(self, connection: "Connection", session_id: str) -> Holder | None:
        """The other process that holds the lease; None if no other running process does."""
        return self.other_holders(connection.execute(f"{ALL} WHERE session = ?", (session_id,)).fetchall()).get(
            session_id
        )

    def other_holders(self, rows: Iterable[tuple[Any, ...]]) -> dict[str, Holder]:
        """The holders in rows selected by ALL that are other, running processes; by session."""
        us, now = self._process(), time.time()
        return {
            session: Holder(pid, host, beat)
            for session, owner, pid, host, of, started, beat in rows
            if owner != us.owner and not is_free(us, Process(owner, pid, host, of, started), beat, now)
        }

    def require_held(self, connection: "Connection", session_id: str) -> None:
        """Raises SessionHeld unless this process holds it, in this transaction."""
        row = connection.execute(LEASE, (session_id,)).fetchone()
        if row is not None and row[0] != self._process().owner:
            raise SessionHeld(Holder(*row[1:]))
        if row is None or session_id not in self.held:
            raise SessionHeld(None)

    def require_free(self, connection: "Connection", session_id: str) -> None:
        """Raises SessionHeld if another process holds it."""
        holder = self.holder(connection, session_id)
        if holder is not None:
            raise SessionHeld(holder)

    def renew(self, connection: "Connection") -> list[str]:
        """Renew all leases of this process. Returns the sessions that it no longer holds."""
        us = self._process().owner
        connection.execute("UPDATE leases SET beat = ? WHERE owner = ?", (time.time(), us))
        ours = {id_ for (id_,) in connection.execute("SELECT session FROM leases WHERE owner = ?", (us,))}
        return sorted(self.held - ours)

    def release(self, connection: "Connection", session_ids: Iterable[str]) -> None:
        us = self._process().owner
        rows = [(id_, us) for id_ in session_ids]
        connection.executemany("DELETE FROM leases WHERE session = ? AND owner = ?", rows)

    def _process(self) -> Process:
        if self._us is None:
            self._us = Process()
        return self._us


def is_free(us: Process, them: Process, beat: float, now: float) -> bool:
    """Whether `us` can take over a lease of `them`, last renewed at `beat`."""
    age = abs(now - beat)
    if us.machine != them.machine:
        return age > STALE_SECONDS
    if not is_alive(them.pid):
        return True
    started = started_at(them.pid)
    if started and them.started:
        return started != them.started
    return age > UNKNOWN_SECONDS


def machine() -> str:
    """Names the scope in which process numbers are unique: the machine since its boot, on Linux also the container."""
    if sys.platform == "linux":
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
        except OSError:  # hidden by a sandbox
            pass
    return socket.gethostname()


def started_at(pid: int) -> str:
    """When a process started, as the system counts; "ended" for a zombie, "" if unknown."""
    if sys.platform != "linux":
        return ""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = status.rpartition(b")")[2].split()  # proc(5), from the third field on; the second can contain spaces
    return "ended" if fields[0] in (b"Z", b"X") else fields[19].decode("ascii")
