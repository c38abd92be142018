"""One process writes a session, no matter what the clocks do, and another one after it has ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tark_lsp.sessions import leases
from tark_lsp.sessions.leases import Process, is_free
from tark_lsp.sessions.rows import SessionHeld
from tark_lsp.sessions.store import SessionStore
from tests.sessions.stores import Stores, Work, begun, row, text, turn, user

HOLDER = """
import sys
from pathlib import Path
from tark_lsp.messages import Message, Text
from tark_lsp.sessions.store import SessionStore
store = SessionStore(lambda: Path(sys.argv[1]), print)
print(store.acquire_lease("s1"), flush=True)
sys.stdin.readline()
store.log.add_message("s1", "", Message("user", (Text("of the other"),)))
print("written", flush=True)
sys.stdin.readline()
"""


@contextmanager
def held_elsewhere(stores: Stores) -> Iterator["subprocess.Popen[str]"]:
    """Another process holds session s1, and writes a message when it gets a line."""
    command = [sys.executable, "-c", HOLDER, str(stores.file)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "None\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def store(stores: Stores) -> SessionStore:
    store = stores.open()
    store.create_session(row("s1"))
    begun(store, "s2", "t2")
    store.release_leases()
    return store


def test_a_session_is_one_process_s(stores: Stores, store: SessionStore) -> None:
    with held_elsewhere(stores) as process:
        holder = store.acquire_lease("s1")
        assert holder is not None
        assert holder.pid == process.pid
        assert store.lease_holder("s1") == holder
        assert store.lease_holders() == {"s1": holder}
        assert store.acquire_lease("s2") is None
        assert store.lease_holders() == {"s1": holder}
        assert store.log.messages("s1") == [], "reading is everybody's"
        fork = store.fork_session("s1", "s3", "Fork", None)
        assert fork.parent == "s1"
        store.log.add_message("s3", "", user("a fork can be written"))


FORBIDDEN: dict[str, Work] = {
    "begin_turn": lambda store: store.log.begin_turn(turn("t1", "s1")),
    "add_message": lambda store: store.log.add_message("s1", "", user("a")),
    "shortened": lambda store: store.log.mark_shortened("s1", 1),
    "compacted": lambda store: store.log.mark_compacted("s1", user("a"), 1),
    "mend": lambda store: store.log.repair_turns("s1"),
    "change": lambda store: store.change_session("s1", title="a"),
    "delete": lambda store: store.delete_session("s1"),
}


@pytest.mark.parametrize("work", FORBIDDEN.values(), ids=FORBIDDEN)
def test_nobody_else_writes_it(stores: Stores, store: SessionStore, work: Work) -> None:
    before = store.find_session("s1")
    with held_elsewhere(stores) as process:
        with pytest.raises(SessionHeld) as refused:
            work(store)
        assert refused.value.holder is not None
        assert refused.value.holder.pid == process.pid
        assert f"process {process.pid}" in str(refused.value)
    assert store.find_session("s1") == before
    assert stores.said == []


def test_a_turn_of_a_session_that_is_not_ours(stores: Stores, store: SessionStore) -> None:
    store.release_leases()
    with pytest.raises(SessionHeld):
        store.log.add_update("t2", 1, text("a"))
    with pytest.raises(SessionHeld):
        store.log.end_turn("t2", {})
    assert store.log.updates("t2") == []
    assert stores.said == []


def test_one_that_was_killed_has_nothing(stores: Stores, store: SessionStore) -> None:
    with held_elsewhere(stores) as process:
        assert store.acquire_lease("s1") is not None
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert store.acquire_lease("s1") is None, "though nobody waited for it yet"
    store.log.add_message("s1", "", user("ours"))


def test_one_that_stands_still_keeps_it(stores: Stores, store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop that slept, or a debugger: the process still exists."""
    with held_elsewhere(stores) as process:
        process.send_signal(signal.SIGSTOP)
        monkeypatch.setattr("time.time", lambda: 4e9)
        holder = store.acquire_lease("s1")
        assert holder is not None
        assert holder.pid == process.pid


@pytest.mark.parametrize("clock", [1e9, 4e9], ids=["back", "forward"])
def test_two_never_write(stores: Stores, store: SessionStore, monkeypatch: pytest.MonkeyPatch, clock: float) -> None:
    """This process thinks that the other one has ended: it is on another machine, and a clock is wrong. The other one
    notices in time."""
    with held_elsewhere(stores) as process:
        monkeypatch.setattr(leases, "machine", lambda: "another")
        monkeypatch.setattr("time.time", lambda: clock)
        assert stores.open().acquire_lease("s1") is None
        out, problem = process.communicate("write\n", timeout=20)
        assert "written" not in out
        assert "SessionHeld" in problem
    assert store.log.messages("s1") == []


def test_who_lost_it_hears_of_it(stores: Stores, store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (store.acquire_lease("s1"), store.acquire_lease("s2")) == (None, None)
    assert store.renew_leases() == []
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(leases, "machine", lambda: "another")
        elsewhere.setattr("time.time", lambda: 4e9)
        assert stores.open().acquire_lease("s1") is None
    assert store.renew_leases() == ["s1"]
    assert store.renew_leases() == [], "once"
    with pytest.raises(SessionHeld):
        store.log.add_message("s1", "", user("a"))
    store.log.add_message("s2", "t2", user("a"))


def test_a_beat_says_that_we_are_there(stores: Stores, store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.acquire_lease("s1")
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert store.renew_leases() == []
    holder = stores.open().lease_holder("s1")
    assert holder is not None
    assert holder.renewed == 4e9


def test_one_is_given_back(stores: Stores, store: SessionStore) -> None:
    store.acquire_lease("s1")
    store.acquire_lease("s2")
    other = stores.open()
    assert set(other.lease_holders()) == {"s1", "s2"}
    store.release_leases("s1")
    assert set(other.lease_holders()) == {"s2"}
    store.release_leases()
    assert other.lease_holders() == {}


US = Process("us", 1, "host", "machine", "10")
HERE = os.getpid()
STARTED = leases.started_at(HERE)


@pytest.mark.parametrize(
    ("them", "age", "free"),
    [
        (replace(US, machine="other"), 0, False),
        (replace(US, machine="other"), 29, False),
        (replace(US, machine="other"), 31, True),
        (replace(US, machine="other"), -29, False),
        (replace(US, machine="other"), -31, True),
        (replace(US, pid=2**22 + 1), 0, True),
        (replace(US, pid=HERE, started=STARTED), 0, False),
        (replace(US, pid=HERE, started=STARTED), 10_000, False),
        (replace(US, pid=HERE, started="1"), 0, True),
        (replace(US, pid=HERE, started=""), 299, False),
        (replace(US, pid=HERE, started=""), 301, True),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="only there is known when a process was started")
def test_when_a_lease_is_free(them: Process, age: float, free: bool) -> None:
    assert is_free(US, them, 1e9 - age, 1e9) is free
