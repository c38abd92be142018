"""What storing a session costs while a turn runs, and how long it takes to have it back, against other ways to do it.

`python -m tests.benchmarks.bench_sessions [TURNS]`. One process, turn by turn in turns with the peers: each event is
stored before the next. Goals: a stored event (a message, an update) under 1 ms p99; opening the file and reading the
history of a session of 1,000 turns under 200 ms. The peers store the same events: lines of JSON appended to a file,
flushed (survives kill -9, as ours does, but may leave half a line) or synced (survives a power cut, too), and
sqlite-utils, a row each in WAL mode. Goals are held against the CPU time of the thread that stores, the event loop's in
a server: on a machine with nothing else to do the clock on the wall says the same, but for waiting for the disk.
"""

import gc
import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from tark_lsp.agent import history
from tark_lsp.messages import Message, Text, ToolCall, ToolResult
from tark_lsp.sessions.message_json import message_json, message_text
from tark_lsp.sessions.store import SessionStore
from tests.sessions.stores import call, row, text, turn

SESSION = "session"
GOALS = {"event": 1.0, "resume": 200.0}
"""In milliseconds: p99, and the slowest of a few."""
CODE = "".join(f"    line_{n} = some(code, of_this_length)\n" for n in range(100))
Event = tuple[str, Any]


class Moment:
    """When something began."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.thread_time()

    def elapsed(self) -> tuple[float, float]:
        """Milliseconds until now, of the clock on the wall and of this thread."""
        return (time.perf_counter() - self._wall) * 1e3, (time.thread_time() - self._cpu) * 1e3


class Way(Protocol):
    name: str

    def begin(self, turn_id: str) -> None: ...
    def message(self, turn_id: str, message: Message) -> None: ...
    def update(self, turn_id: str, seq: int, update: dict[str, Any]) -> None: ...
    def end(self, turn_id: str) -> None: ...
    def close(self) -> None: ...
    def resume(self) -> int:
        """Opened anew: how many messages there are, all of them read."""
        ...


class Ours:
    name = "tark"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "sessions.sqlite3"
        self.store = self.opened()
        self.store.create_session(row(SESSION, "A title"))

    def opened(self) -> SessionStore:
        return SessionStore(lambda: self._file, sys.exit)

    def begin(self, turn_id: str) -> None:
        self.store.log.begin_turn(turn(turn_id, SESSION))

    def message(self, turn_id: str, message: Message) -> None:
        self.store.log.add_message(
            SESSION, turn_id, message, {item.id: f"call-{item.id}" for item in message.tool_calls}
        )

    def update(self, turn_id: str, seq: int, update: dict[str, Any]) -> None:
        self.store.log.add_update(turn_id, seq, update)

    def end(self, turn_id: str) -> None:
        self.store.log.end_turn(turn_id, {"sessionId": SESSION, "turnId": turn_id, "stopReason": "end_turn"})

    def close(self) -> None:
        self.store.release_leases()
        self.store.close()

    def resume(self) -> int:
        store = self.opened()
        assert store.acquire_lease(SESSION) is None
        store.log.repair_turns(SESSION)
        messages = store.log.history(SESSION).messages
        history.check_history(messages)
        store.release_leases()
        store.close()
        return len(messages)


class Lines:
    """Lines of JSON, as most agents keep their sessions."""

    def __init__(self, folder: Path, *, sync: bool) -> None:
        self.name = "JSON lines, synced" if sync else "JSON lines, flushed"
        self._sync = sync
        self._path = folder / f"{'synced' if sync else 'flushed'}.jsonl"
        self._file: IO[str] = self._path.open("a", encoding="utf-8")

    def begin(self, turn_id: str) -> None:
        self._add({"turn": turn_id})

    def message(self, turn_id: str, message: Message) -> None:
        self._add({"turn": turn_id, "message": message_json(message)})

    def update(self, turn_id: str, seq: int, update: dict[str, Any]) -> None:
        self._add({"turn": turn_id, "seq": seq, "update": update})

    def end(self, turn_id: str) -> None:
        self._add({"turn": turn_id, "end": {"stopReason": "end_turn"}})

    def close(self) -> None:
        self._file.close()

    def resume(self) -> int:
        with self._path.open(encoding="utf-8") as lines:
            return sum("message" in json.loads(line) for line in lines)

    def _add(self, value: dict[str, Any]) -> None:
        self._file.write(json.dumps(value, separators=(",", ":")) + "\n")
        self._file.flush()
        if self._sync:
            os.fsync(self._file.fileno())


class SqliteUtils:
    """Imported by name, as all peers: they are a dependency group of their own, and mypy has to pass without them."""

    name = "sqlite-utils"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "peer.sqlite3"
        self._database: Any = importlib.import_module("sqlite_utils").Database
        self._file = self._database(self._path)
        self._file.enable_wal()
        self._events = self._file.table("events")

    def begin(self, turn_id: str) -> None:
        self._events.insert({"turn": turn_id, "kind": "begin", "value": "{}"})

    def message(self, turn_id: str, message: Message) -> None:
        self._events.insert({"turn": turn_id, "kind": "message", "value": message_text(message)})

    def update(self, turn_id: str, seq: int, update: dict[str, Any]) -> None:
        self._events.insert({"turn": turn_id, "kind": "update", "value": json.dumps({"seq": seq, **update})})

    def end(self, turn_id: str) -> None:
        self._events.insert({"turn": turn_id, "kind": "end", "value": "{}"})

    def close(self) -> None:
        self._file.close()

    def resume(self) -> int:
        database = self._database(self._path)
        found = [json.loads(event["value"]) for event in database.table("events").rows_where("kind = 'message'")]
        database.close()
        return len(found)


class Bench:
    def __init__(self, ways: list[Way]) -> None:
        self._ways = ways
        self.took: dict[tuple[str, str], list[tuple[float, float]]] = {}
        self.messages = 0

    def run(self, turns: int) -> None:
        for number in range(turns):
            events = list(events_of(number))
            self.messages += sum(kind == "message" for kind, _ in events)
            for way in self._ways:
                self._turn(way, f"turn-{number:012x}", events)
        for way in self._ways:
            way.close()
        for _ in range(5):
            for way in self._ways:
                gc.collect()
                with self.timed(way.name, "resume"):
                    found = way.resume()
                assert found == self.messages, (way.name, found)

    def _turn(self, way: Way, turn_id: str, events: list[Event]) -> None:
        with self.timed(way.name, "begin"):
            way.begin(turn_id)
        seq = 0
        for kind, value in events:
            seq += kind == "update"
            with self.timed(way.name, "event"):
                if kind == "update":
                    way.update(turn_id, seq, value)
                else:
                    way.message(turn_id, value)
        with self.timed(way.name, "end"):
            way.end(turn_id)

    @contextmanager
    def timed(self, way: str, name: str) -> Iterator[None]:
        start = Moment()
        yield
        self.took.setdefault((name, way), []).append(start.elapsed())


def events_of(number: int) -> Iterator[Event]:
    """A turn with two tool calls: about 30 updates and 4 messages, 12 KB."""
    ids = f"a{number}", f"b{number}"
    yield "update", {"kind": "start", "prompt": "Change it", "turnKind": "agent", "model": "p/m", "mode": "build"}
    yield "message", Message("user", (Text(f"Change it, please ({number}).\n{CODE[:1_000]}"),))
    yield from _words(10)
    yield from (("update", call(f"call-{id_}", "pending", name="read_file")) for id_ in ids)
    yield "message", Message("assistant", tuple(ToolCall(id_, "read_file", '{"path": "a.py"}') for id_ in ids), "p/m")
    yield from (("update", call(f"call-{id_}", "in_progress", title="read_file a.py")) for id_ in ids)
    shown = [{"type": "text", "text": CODE}]
    yield from (("update", call(f"call-{id_}", "completed", content=shown)) for id_ in ids)
    yield "message", Message("tool", tuple(ToolResult(id_, CODE) for id_ in ids))
    yield from _words(10)
    yield "message", Message("assistant", (Text("It is changed. " * 40),), "p/m")
    yield "update", {"kind": "usage", "inputTokens": 1_000, "outputTokens": 500, "costUsd": 0.01}
    yield "update", {"kind": "end", "stopReason": "end_turn", "text": "It is changed."}


def _words(count: int) -> Iterator[Event]:
    yield from (("update", text("some words of the answer " * 4)) for _ in range(count))


def listing(folder: Path) -> tuple[float, float]:
    """Milliseconds, wall and CPU, for the list of 1,000 sessions with two turns each."""
    store = SessionStore(lambda: folder / "many.sqlite3", sys.exit)
    for number in range(1_000):
        store.create_session(row(f"s{number}", f"Session {number}", [Path(f"/projects/{number % 7}")]))
        for at in range(2):
            store.log.begin_turn(turn(f"t{number}-{at}", f"s{number}"))
            store.log.end_turn(f"t{number}-{at}", {})
    store.release_leases()
    store.close()
    start = Moment()
    found = SessionStore(lambda: folder / "many.sqlite3", sys.exit).list_sessions()
    took = start.elapsed()
    assert len(found) == 1_000
    assert {item.turns for item in found} == {2}
    return took


def table(took: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    print(f"{'':8} {'':20} {'p50':>8} {'p99':>8} {'p99.9':>8} {'max':>8}   ms, wall (CPU p99)")
    for (name, way), values in sorted(took.items()):
        wall = sorted(value for value, _ in values)
        cpu = sorted(value for _, value in values)
        at = [statistics.median(wall), _share(wall, 0.99), _share(wall, 0.999), wall[-1]]
        print(f"{name:8} {way:20} {' '.join(f'{item:8.3f}' for item in at)}   ({_share(cpu, 0.99):.3f})")


def _share(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))]


def main(turns: int) -> int:
    began = time.monotonic()
    importlib.import_module("tark_lsp.sessions.repair")  # a server has all that this imports
    making: list[Callable[[Path], Way]] = [
        Ours,
        lambda folder: Lines(folder, sync=False),
        lambda folder: Lines(folder, sync=True),
        SqliteUtils,
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench([make(folder) for make in making])
        gc.disable()
        bench.run(turns)
        gc.enable()
        print(f"{turns} turns, {bench.messages} messages, {time.monotonic() - began:.0f} s")
        table(bench.took)
        for path in sorted(folder.iterdir()):
            print(f"{path.name:24} {path.stat().st_size / 1e6:8.1f} MB")
        print("list of 1,000 sessions: {:.1f} ms wall, {:.1f} ms CPU".format(*listing(folder)))
    event = _share(sorted(cpu for _, cpu in bench.took["event", Ours.name]), 0.99)
    resume = max(cpu for _, cpu in bench.took["resume", Ours.name])
    met = event < GOALS["event"] and resume < GOALS["resume"]
    print(
        f"goals: event p99 {event:.3f} of {GOALS['event']} ms, resume {resume:.0f} of {GOALS['resume']:.0f} ms (CPU):",
        met,
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
