"""The file of the checkpoints: private, shared, limited, intact after kill -9, and what happens without it."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp import sqlite_file
from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.checkpoints import schema as checkpoint_rows
from tark_lsp.workspace.checkpoints import store as checkpoint_store
from tark_lsp.workspace.checkpoints.delta import apply_delta, make_delta
from tark_lsp.workspace.checkpoints.schema import KEPT_TURNS, size_of
from tark_lsp.workspace.checkpoints.store import CheckpointStore, LoggedTurn
from tests.exhaustive import examples

ONE = Path("/w/a.py")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.sqlite3"


class Failures(list[tuple[str, bool]]):
    in_memory = False

    def __call__(self, problem: str, lost: bool, in_memory: bool) -> None:
        self.append((problem, lost))
        self.in_memory = in_memory


def opened(file: Path) -> tuple[CheckpointStore, Failures]:
    failures = Failures()
    return CheckpointStore(lambda: file, failures), failures


def note(store: CheckpointStore, turn_id: str, before: bytes | None = b"old", after: bytes | None = b"new") -> int:
    store.begin_turn(turn_id, f"title of {turn_id}", [Path("/w"), Path("/v")])
    return store.add_change(turn_id, "edit", ONE, before=before, after=after)


def test_all_of_it_is_there_for_the_next_server(file: Path) -> None:
    odd = Path(os.fsdecode(b"/w/\xff.py"))
    store, failures = opened(file)
    store.begin_turn("t1", "Rename \ud800 it", [odd.parent])
    store.begin_turn("t1", "another title, too late", [])
    first = store.add_change("t1", "edit", odd, before=None, after="é\ud800".encode("utf-8", "surrogatepass"))
    second = store.add_change("t1", "move", odd, target=ONE)
    third = store.add_change("t1", "remove", ONE, before=b"\xff\0", mode=0o640)
    dropped = store.add_change("t1", "edit", ONE, before=b"x", after=b"y")
    store.confirm_change(first)
    store.confirm_change(second)
    store.mark_undone([change for change in store.changes("t1") if change.number == second])
    store.drop_change(dropped)
    note(store, "t2")

    other, _ = opened(file)
    assert [(turn.id, turn.title, turn.folders) for turn in other.turns()] == [
        ("t2", "title of t2", (Path("/w"), Path("/v"))),
        ("t1", "Rename ? it", (Path("/w"),)),
    ]
    changes = other.changes("t1")
    assert [change.number for change in changes] == [first, second, third]
    assert [(change.kind, change.path, change.target) for change in changes] == [
        ("edit", odd, None),
        ("move", odd, ONE),
        ("remove", ONE, None),
    ]
    assert [(change.mode, change.confirmed, change.undone) for change in changes] == [
        (0, True, False),
        (0, True, True),
        (0o640, False, False),
    ]
    assert changes[0].before is None
    assert other.content(changes[0].after or "").decode("utf-8", "surrogatepass") == "é\ud800"
    assert other.content(changes[2].before or "") == b"\xff\0"
    assert other.changes("nonesuch") == other.changes("\ud800") == []
    assert failures == []


def test_what_came_after_all_is_noted_again(file: Path) -> None:
    """Another process dropped the change and deleted the turn with its texts; the order stays."""
    store, _ = opened(file)
    first, second = note(store, "t1"), note(store, "t1", b"new", b"newer")
    other, _ = opened(file)
    for number in range(KEPT_TURNS):
        note(other, f"other {number}", None, None)
    assert other.changes("t1") == []
    store.confirm_change(second)
    store.confirm_change(first)
    changes = other.changes("t1")
    assert [(change.number, change.confirmed) for change in changes] == [(first, True), (second, True)]
    assert [other.content(change.before or "") for change in changes] == [b"old", b"new"]
    assert [turn.title for turn in other.turns() if turn.id == "t1"] == ["title of t1"]


def test_what_was_made_sure_meanwhile_is_neither_given_up_nor_taken_back(file: Path) -> None:
    store, _ = opened(file)
    number = note(store, "t1")
    other, _ = opened(file)
    read = other.changes("t1")
    store.confirm_change(number)
    other.drop_unconfirmed(read)
    other.mark_undone(read)
    assert [(change.number, change.confirmed, change.undone) for change in other.changes("t1")] == [
        (number, True, False)
    ]


def test_only_the_person_can_read_it(file: Path) -> None:
    store, _ = opened(file)
    note(store, "t1")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert set(modes.values()) == {0o600}, modes
    assert "checkpoints.sqlite3-wal" in modes
    file.chmod(0o644)
    other, _ = opened(file)
    note(other, "t2")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_text_is_kept_once(file: Path) -> None:
    store, _ = opened(file)
    for number in range(5):
        note(store, f"t{number}", b"the same", b"the same, too")
    assert size_of(store._database._open[0]) == len(b"the same" + b"the same, too")


def test_old_turns_are_forgotten_with_their_texts(file: Path) -> None:
    store, _ = opened(file)
    for number in range(KEPT_TURNS + 5):
        note(store, f"t{number}", f"old {number:04}".encode(), f"new {number:04}".encode())
    assert len(store.turns()) == KEPT_TURNS
    assert (store.changes("t4"), len(store.changes("t5"))) == ([], 1)
    assert size_of(store._database._open[0]) == KEPT_TURNS * 2 * len("old 0000")


def test_the_oldest_go_where_there_are_too_many_bytes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_rows, "KEPT_BYTES", 1_000_000)
    monkeypatch.setattr(checkpoint_store, "CHECK_AFTER_BYTES", 500_000)
    store, _ = opened(file)
    for number in range(10):
        note(store, f"t{number}", bytes([number]) * 200_000)
    assert [turn.id for turn in store.turns()] == ["t9", "t8", "t7", "t6", "t5"]
    pages = store._database.read("PRAGMA page_count")[0][0]
    assert pages * 4_096 < 2_000_000, "the file shrinks with it"
    for number in range(20, 30):  # of one turn, which is never split
        note(store, "t9", bytes([number]) * 200_000)
    assert [turn.id for turn in store.turns()] == ["t9"]
    assert len(store.changes("t9")) == 11
    assert len([store.content(change.before or "") for change in store.changes("t9")]) == 11


def test_versions_of_a_file_take_little_room(file: Path) -> None:
    store, _ = opened(file)
    lines = [b"line %d\n" % number for number in range(10_000)]
    versions = []
    for number in range(50):
        versions.append(b"".join(lines))
        lines[number * 150 : number * 150 + 2] = [b"changed in the middle %d\n" % number]
        note(store, f"t{number % 3}", versions[-1], b"".join(lines))
    assert size_of(store._database._open[0]) < 5 * len(versions[0]), "fifty versions"
    other, _ = opened(file)
    changes = [change for number in range(3) for change in other.changes(f"t{number}")]
    assert sorted(other.content(change.before or "") for change in changes) == sorted(versions)
    kept = other.changes("t2")
    for number in range(KEPT_TURNS - 1):
        note(other, f"later {number}", b"x", b"y")
    assert len(other.changes("t2")) == len(kept) > 10
    assert other.changes("t1") == []
    for change in kept:
        assert len(other.content(change.after or "")) > 50_000, "what it is put on top of is still there"


@settings(max_examples=examples(200))
@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_differences(head: bytes, tail: bytes, one: bytes, other: bytes) -> None:
    base, data = head + one + tail, head + other + tail
    assert apply_delta(base, make_delta(base, data)) == data
    assert len(make_delta(base, data)) <= 16 + len(other)


def test_damaged_copies_are_not_used(file: Path) -> None:
    store, _ = opened(file)
    note(store, "t1")
    (change,) = store.changes("t1")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE contents SET data = X'00'")
    connection.close()
    for digest in (change.before, "none at all"):
        with pytest.raises(WorkspaceError, match="damaged"):
            store.content(digest or "")


# What the file cannot do


def no_folder(file: Path) -> None:
    file.parent.rmdir()


def junk(file: Path) -> None:
    file.write_bytes(b"this is no database, by no means" * 100)


def newer(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def a_folder(file: Path) -> None:
    file.mkdir()


def other_tables(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE turns (id)")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (no_folder, "No such file"),
        (junk, "file is not a database"),
        (newer, "newer tark-lsp"),
        (a_folder, "unable to open"),
        (other_tables, "already exists"),
    ],
)
def test_without_the_file_it_is_kept_elsewhere(file: Path, spoil: Callable[[Path], None], words: str) -> None:
    folder = file.parent / "state"
    folder.mkdir()
    file = folder / file.name
    spoil(file)
    store, failures = opened(file)
    for number in range(3):
        store.confirm_change(note(store, f"t{number}"))
    assert [turn.id for turn in store.turns()] == ["t2", "t1", "t0"]
    assert store.content(store.changes("t0")[0].before or "") == b"old"
    ((problem, lost),) = failures
    assert words in problem
    assert not lost
    assert failures.in_memory == (spoil is not junk)
    if spoil is junk:
        (aside,) = folder.glob("*.damaged-*")
        assert aside.read_bytes().startswith(b"this is no database")
        assert str(aside) in problem


def test_no_state_folder() -> None:
    failures = Failures()

    def locate() -> Path:
        raise PermissionError(13, "Permission denied", "/state")

    store = CheckpointStore(locate, failures)
    note(store, "t1")
    assert len(store.changes("t1")) == 1
    assert [problem for problem, _ in failures] == ["[Errno 13] Permission denied: '/state'"]


def test_a_full_disk(file: Path) -> None:
    """A limit of SQLite stands for the full disk: the error is the same."""
    store, failures = opened(file)
    before = note(store, "t0")
    first = note(store, "t1")
    ((pages,),) = store._database._open[0].execute("PRAGMA page_count")
    store._database._open[0].execute(f"PRAGMA max_page_count = {pages}")
    second = note(store, "t1", b"x" * 100_000)
    store.confirm_change(first)
    store.confirm_change(second)
    assert failures == [("database or disk is full", False)]
    assert [(change.number, change.confirmed) for change in store.changes("t1")] == [(first, True), (second, True)]
    assert [change.number for change in store.changes("t0")] == [before]
    assert store.content(store.changes("t1")[0].before or "") == b"old", "what was noted before is not lost"
    assert note(store, "t2") > second


def test_damaged_while_it_is_used(file: Path) -> None:
    store, failures = opened(file)
    note(store, "t1")
    store._database.close()
    with file.open("r+b") as stream:
        pages = stream.seek(0, os.SEEK_END) - stream.seek(4096)
        stream.write(b"\xff" * pages)
    number = note(store, "t1")
    ((problem, lost),) = failures
    assert "malformed" in problem
    assert lost
    assert number in [change.number for change in store.changes("t1")]
    assert [turn.id for turn in store.turns()] == ["t1"]
    other, _ = opened(file)
    assert [turn.id for turn in other.turns()] == ["t1"], "it is in a new file"


def test_locked(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    store, failures = opened(file)
    note(store, "t1")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    note(store, "t2")
    assert failures == [("database is locked", False)]
    assert [turn.id for turn in store.turns()] == ["t2", "t1"]
    other.execute("ROLLBACK")
    other.close()


# Several servers, and kill -9

WRITER = """
import sys
from pathlib import Path
from tark_lsp.workspace.checkpoints.store import CheckpointStore
failures = []
store = CheckpointStore(lambda: Path(sys.argv[1]), lambda *problem: failures.append(problem))
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    store.begin_turn(sys.argv[2], "title", [])
    before, after = b"%d" % number, b"%d" % (number + 1)
    store.confirm_change(store.add_change(sys.argv[2], "edit", Path("/a"), before=before, after=after))
    print(number, flush=True)
sys.exit(f"{failures}" if failures else 0)
"""


def writer(file: Path, name: str, count: int) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), name, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.slow  # it starts programs
def test_servers_write_at_the_same_time(file: Path) -> None:
    """From the beginning, when there is no file yet."""
    processes = [writer(file, f"t{number}", 50) for number in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert len(out.split()) == 50
    store, _ = opened(file)
    assert {turn.id for turn in store.turns()} == {"t0", "t1", "t2", "t3"}
    assert all(len(store.changes(turn.id)) == 50 for turn in store.turns())


def test_nothing_is_lost_by_kill_9(file: Path) -> None:
    process = writer(file, "t1", 1_000_000)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"go\n")
    process.stdin.flush()
    while int(process.stdout.readline()) < 100:
        pass
    process.send_signal(signal.SIGKILL)
    said = max([100, *map(int, process.stdout.readlines())])
    process.communicate()
    store, failures = opened(file)
    changes = store.changes("t1")
    assert [change.confirmed for change in changes[: said + 1]] == [True] * (said + 1)
    assert all(store.content(change.before or "") == b"%d" % at for at, change in enumerate(changes))
    assert len(changes) - said in (1, 2), "and one more at most, which was noted while it was killed"
    assert failures == []


def test_a_turn_knows_when_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.5)
    store, _ = opened(file)
    note(store, "t1")
    assert store.turns() == [LoggedTurn("t1", 1_800_000_000.5, "title of t1", (Path("/w"), Path("/v")))]
