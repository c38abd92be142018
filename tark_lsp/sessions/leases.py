"""Who may write a session: one process at a time.

A lease is a row. Whoever writes checks in the same transaction that the row is still its own: so a clock that jumps, a
process that slept or a wrong guess about one that is gone may cost somebody the lease, and never makes two writers.
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

BEAT_SECONDS = 5.0
"""How often a process says that it is there."""
STALE_SECONDS = 30.0
"""A process of another machine that has not said so for this long is gone, and so is one that will say so only then:
one of the clocks is wrong."""
UNKNOWN_SECONDS = 300.0
"""The same where a process with that number is there, but the system does not tell whether it is that one."""
ALL = "SELECT session, owner, pid, host, machine, started, beat FROM leases"
LEASE = "SELECT owner, pid, host, beat FROM leases WHERE session = ?"
TAKE = "INSERT OR REPLACE INTO leases (session, owner, pid, host, machine, started, beat) VALUES (?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Process:
    """One that writes sessions. `machine` says whose process numbers `pid` is one of, `started` when it began by its
    machine's own count, "" where that is not known."""

    owner: str = field(default_factory=lambda: secrets.token_hex(8))
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)
    machine: str = field(default_factory=lambda: machine())
    started: str = field(default_factory=lambda: started_at(os.getpid()))


class Leases:
    def __init__(self) -> None:
        self._us: Process | None = None
        self.held: set[str] = set()
        """Ids of sessions that were ours when last seen."""

    def take(self, connection: "Connection", session_id: str) -> Holder | None:
        """None: it is ours now."""
        holder = self.holder(connection, session_id)
        if holder is None:
            us = self._process()
            values = (us.owner, us.pid, us.host, us.machine, us.started, time.time())
            connection.execute(TAKE, (session_id, *values))
        return holder

    def holder(self, connection: "Connection", session_id: str) -> Holder | None:
        """Who has it, other than us; None: nobody who is still there."""
        return self.others(connection.execute(f"{ALL} WHERE session = ?", (session_id,)).fetchall()).get(session_id)

    def others(self, rows: Iterable[tuple[Any, ...]]) -> dict[str, Holder]:
        """Those of the rows that ALL gives that belong to others who are still there, by session."""
        us, now = self._process(), time.time()
        return {
            session: Holder(pid, host, beat)
            for session, owner, pid, host, of, started, beat in rows
            if owner != us.owner and not is_free(us, Process(owner, pid, host, of, started), beat, now)
        }

    def check(self, connection: "Connection", session_id: str) -> None:
        """Raises SessionHeld unless it is ours, now and in this transaction."""
        row = connection.execute(LEASE, (session_id,)).fetchone()
        if row is not None and row[0] != self._process().owner:
            raise SessionHeld(Holder(*row[1:]))
        if row is None or session_id not in self.held:
            raise SessionHeld(None)

    def beat(self, connection: "Connection") -> list[str]:
        """Say that we are there; gives those that are ours no more."""
        us = self._process().owner
        connection.execute("UPDATE leases SET beat = ? WHERE owner = ?", (time.time(), us))
        ours = {id_ for (id_,) in connection.execute("SELECT session FROM leases WHERE owner = ?", (us,))}
        return sorted(self.held - ours)

    def give_back(self, connection: "Connection", session_ids: Iterable[str]) -> None:
        us = self._process().owner
        rows = [(id_, us) for id_ in session_ids]
        connection.executemany("DELETE FROM leases WHERE session = ? AND owner = ?", rows)

    def _process(self) -> Process:
        if self._us is None:
            self._us = Process()
        return self._us


def is_free(us: Process, them: Process, beat: float, now: float) -> bool:
    """Whether their lease can be taken by us."""
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
    """Which count of processes ours is one of: a machine since it was started, and on Linux the container."""
    if sys.platform == "linux":
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
        except OSError:  # hidden by a sandbox
            pass
    return socket.gethostname()


def started_at(pid: int) -> str:
    """When a process began, by the system's own count; "ended" for one that nobody waited for yet; "": not known."""
    if sys.platform != "linux":
        return ""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = status.rpartition(b")")[2].split()  # from the third of proc(5) on; the second may hold spaces
    return "ended" if fields[0] in (b"Z", b"X") else fields[19].decode("ascii")
