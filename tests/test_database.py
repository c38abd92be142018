"""The database when its file fails: it goes on with the rows of this process, and reports what happened."""

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tark_lsp import database as database_module
from tark_lsp import sqlite_file
from tark_lsp.database import Database, Layout
from tark_lsp.sqlite_file import copy_rows

LAYOUT = Layout(3, ("CREATE TABLE notes (owner TEXT, text TEXT)", "CREATE INDEX notes_of ON notes (owner)"))


class Notes:
    """Uses a database as a store does; `told`: the failures that were reported."""

    def __init__(self, locate: Callable[[], Path], owner: str = "me") -> None:
        self.owner = owner
        self.told: list[tuple[str, bool, bool]] = []
        self.database = Database(locate, LAYOUT, self._carry, lambda *failure: self.told.append(failure))

    def add(self, text: str) -> None:
        sql = "INSERT INTO notes VALUES (?, ?)"
        self.database.write(lambda connection: connection.execute(sql, (self.owner, text)))

    def all(self) -> list[str]:
        return [text for (text,) in self.database.read("SELECT text FROM notes ORDER BY rowid")]

    def _carry(self, old: sqlite3.Connection, new: sqlite3.Connection) -> bool:
        sql = "SELECT * FROM notes WHERE owner = ?"
        return copy_rows(old, new, "notes", sql, (self.owner,))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "notes.sqlite3"


def notes(file: Path, owner: str = "me") -> Notes:
    return Notes(lambda: file, owner)


def spoil(file: Path) -> None:
    """Overwrite everything except the first page."""
    with file.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END) - stream.seek(4096)
        stream.write(b"\xff" * size)


def test_a_file_that_is_no_database_is_put_aside(file: Path) -> None:
    junk = b"this is no database, by no means" * 100
    file.write_bytes(junk)
    ours = notes(file)
    ours.add("a")
    ((problem, lost, in_memory),) = ours.told
    (aside,) = file.parent.glob("notes.sqlite3.damaged-*")
    assert (aside.read_bytes(), lost, in_memory) == (junk, False, False)
    assert str(aside) in problem
    assert notes(file).all() == ["a"]


def test_one_that_is_damaged_between_two_calls(file: Path) -> None:
    ours, other = notes(file), notes(file, "you")
    ours.add("a")
    ours.database.close()
    spoil(file)
    ours.add("b")
    ((problem, lost, in_memory),) = ours.told
    assert "malformed" in problem
    assert (lost, in_memory) == (True, False)
    other.add("c")
    assert (other.all(), other.told) == (["b", "c"], [])


def test_whoever_has_it_open_goes_over_to_the_new_one(file: Path) -> None:
    """The log of the new file stays when the old one is closed."""
    ours, other = notes(file), notes(file, "you")
    other.add("of the other")
    ours.add("ours")
    moved = sqlite_file.put_aside(file, sqlite_file.file_identity(file))
    ours.add("more of ours")
    log = file.with_name(f"{file.name}-wal")
    before = log.stat().st_ino
    other.add("more of the other")
    assert [in_memory for _, _, in_memory in (*ours.told, *other.told)] == [False, False]
    assert log.stat().st_ino == before
    assert sorted(notes(file).all()) == ["more of ours", "more of the other", "of the other", "ours"]
    assert moved.exists()
    ours.database.close()
    assert log.exists(), "the other has it open"
    kept = shutil.copytree(file.parent, file.parent / "as after a crash")
    assert len(notes(kept / file.name).all()) == 4


def test_one_that_was_removed_is_made_anew(file: Path) -> None:
    ours, other = notes(file), notes(file, "you")
    other.add("gone with it")
    ours.add("a")
    for path in file.parent.iterdir():
        path.unlink()
    ours.add("b")
    assert [(lost, in_memory) for _, lost, in_memory in ours.told] == [(False, False)]
    assert notes(file).all() == ["a", "b"]


def test_only_the_first_puts_it_aside(file: Path) -> None:
    file.write_bytes(b"junk" * 2_000)
    damaged = sqlite_file.file_identity(file)
    notes(file).add("a")
    with pytest.raises(FileNotFoundError):
        sqlite_file.put_aside(file, damaged)
    assert notes(file).all() == ["a"]


def test_one_that_was_replaced_while_another_process_had_the_lock(file: Path) -> None:
    """Two processes find the same file damaged. The second one must not put the new file of the first one aside."""
    file.write_bytes(b"junk" * 2_000)
    damaged = sqlite_file.file_identity(file)
    first = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    with ThreadPoolExecutor() as threads:
        second = threads.submit(sqlite_file.put_aside, file, damaged)
        with pytest.raises(TimeoutError):
            second.result(0.1)
        file.rename(file.with_name("aside"))
        notes(file).add("a")
        os.close(first)
        with pytest.raises(FileNotFoundError):
            second.result()
    assert notes(file).all() == ["a"]


def test_a_folder_that_stays_locked_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    file.write_bytes(b"junk" * 2_000)
    other = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    ours = notes(file)
    ours.add("a")
    assert [(lost, in_memory) for _, lost, in_memory in ours.told] == [(False, True)]
    assert (ours.all(), file.read_bytes()[:4]) == (["a"], b"junk")
    os.close(other)


def test_one_that_cannot_be_put_aside(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(b"junk" * 2_000)
    monkeypatch.setattr("time.strftime", lambda _: "now")
    file.with_name(f"{file.name}.damaged-now").touch()
    ours = notes(file)
    ours.add("a")
    assert [(lost, in_memory) for _, lost, in_memory in ours.told] == [(False, True)]
    assert file.read_bytes().startswith(b"junk")
    assert ours.all() == ["a"]


def test_a_newer_one_is_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 4")
    connection.close()
    before = file.read_bytes()
    ours = notes(file)
    ours.add("a")
    ours.add("b")
    assert ours.told == [("it was written by a newer tark-lsp", False, True)]
    assert (ours.all(), file.read_bytes()) == (["a", "b"], before)


def test_no_folder() -> None:
    def locate() -> Path:
        raise PermissionError(13, "Permission denied", "/state")

    ours = Notes(locate)
    ours.add("a")
    assert ours.told == [("[Errno 13] Permission denied: '/state'", False, True)]
    assert ours.all() == ["a"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB; the test is skipped if it cannot be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    ours = notes(small_disk / "notes.sqlite3")
    written = [f"{number} {'x' * 1_000}" for number in range(500)]
    for text in written:
        ours.add(text)
    assert [(lost, in_memory) for _, lost, in_memory in ours.told] == [(False, True)]
    assert "full" in ours.told[0][0] or "I/O" in ours.told[0][0]
    assert ours.all() == written


def test_a_full_disk_on_which_the_file_is_damaged(small_disk: Path) -> None:
    ours = notes(small_disk / "notes.sqlite3")
    ours.add("a")
    ours.database.close()
    ours.database.read("SELECT 1")
    (small_disk / "notes.sqlite3").write_bytes(b"junk" * 10_000)
    small_disk.joinpath("filler").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    for text in "bcd":
        ours.add(text)
    assert ours.told[-1][2], "in memory"
    assert ours.all()[-3:] == ["b", "c", "d"]
    assert ours.all()[0] == "a" or any(lost for _, lost, _ in ours.told)


def test_a_disk_that_becomes_read_only(small_disk: Path) -> None:
    ours = notes(small_disk / "notes.sqlite3")
    ours.add("a")
    ours.database.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    other = notes(small_disk / "notes.sqlite3", "you")
    assert other.all() == ["a"], "it can be read"
    other.add("b")
    assert other.all() == ["a", "b"]
    ours.add("b")
    assert [(lost, in_memory) for _, lost, in_memory in ours.told] == [(False, True)]
    assert ours.all() == ["a", "b"]


def test_a_full_file(file: Path) -> None:
    """A limit of SQLite, if no disk can be mounted."""
    ours = notes(file)
    ours.add("a")
    ((pages,),) = ours.database.read("PRAGMA page_count")
    ours.database.read(f"PRAGMA max_page_count = {pages}")
    ours.add("b" * 10_000)
    assert ours.told == [("database or disk is full", False, True)]
    assert ours.all() == ["a", "b" * 10_000]


def test_a_big_file_is_not_copied_as_a_whole(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "MOST_COPIED_BYTES", 20_000)
    ours, other = notes(file), notes(file, "you")
    other.add("x" * 30_000)
    ours.add("a")
    ((pages,),) = ours.database.read("PRAGMA page_count")
    ours.database.read(f"PRAGMA max_page_count = {pages}")
    ours.add("b" * 30_000)
    assert ours.all() == ["a", "b" * 30_000]
    assert [(lost, in_memory) for _, lost, in_memory in ours.told] == [(False, True)]


def test_locked_for_long(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    ours = notes(file)
    ours.add("a")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ours.add("b")
    assert ours.told == [("database is locked", False, True)]
    assert ours.all() == ["a", "b"]
    other.execute("ROLLBACK")
    other.close()


def test_a_defect_of_ours_is_no_failure_of_the_file(file: Path) -> None:
    ours = notes(file)
    ours.add("a")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        ours.database.read("SELECT nonesuch FROM notes")

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO notes VALUES ('me', 'half')")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ours.database.write(half)
    assert (ours.all(), ours.told) == (["a"], [])


def test_the_log_does_not_grow_for_ever(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "CHECKPOINT_WRITES", 10)
    ours = notes(file)
    for number in range(300):
        ours.add(f"{number} {'x' * 2_000}")
        if ours.database._checkpoint is not None:
            ours.database._checkpoint.join()
    assert file.with_name(f"{file.name}-wal").stat().st_size < 200_000
    assert file.stat().st_size > 500_000
    assert (len(ours.all()), ours.told) == (300, [])


def test_bringing_in_the_log_of_a_file_that_is_gone(file: Path) -> None:
    sqlite_file.checkpoint_log(file)
    assert not file.exists()
    file.write_bytes(b"junk" * 2_000)
    sqlite_file.checkpoint_log(file)
    assert file.read_bytes() == b"junk" * 2_000


BEGINNER = """
import sys
from pathlib import Path
from tests.test_database import notes
ours = notes(Path(sys.argv[1]), sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(50):
    ours.add(f"{sys.argv[2]} {number}")
sys.exit(str(ours.told) if ours.told and sys.argv[3] == "missing" else 0)
"""


@pytest.mark.slow  # it starts programs
@pytest.mark.parametrize("before", ["missing", "damaged"])
def test_several_begin_at_the_same_moment(file: Path, before: str) -> None:
    if before == "damaged":
        file.write_bytes(b"junk" * 2_000)
    names = [f"p{number}" for number in range(3)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", BEGINNER, str(file), name, before], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in names
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    found = notes(file).all()
    assert sorted(found) == sorted(f"{name} {number}" for name in names for number in range(50))


def test_a_process_that_is_killed_while_it_holds_the_lock(file: Path) -> None:
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        " c.execute(\"INSERT INTO notes VALUES ('x', 'half')\"); print('in it', flush=True); sys.stdin.read()"
    )
    ours = notes(file)
    ours.add("a")
    process = subprocess.Popen([sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"in it\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ours.add("b")
    assert (ours.all(), ours.told) == (["a", "b"], [])
