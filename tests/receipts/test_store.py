"""The file of receipts: several processes append to it, and a file that cannot be used is an error, never silence."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tark_lsp.receipts.chain import find_fault
from tark_lsp.receipts.receipt import Receipt, Step
from tark_lsp.receipts.store import ReceiptStore, ReceiptsUnusable, read_entries

APPEND = """
import sys
from pathlib import Path
from tark_lsp.receipts.store import ReceiptStore
from tests.receipts.test_store import receipt
store = ReceiptStore(lambda: Path(sys.argv[1]))
for number in range(50):
    store.append([receipt(f"{sys.argv[2]} {number}")])
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "receipts.sqlite3"


def receipt(subject: str) -> Receipt:
    return Receipt(1.5, "session", "turn", "call", "run_command", Step.SHOWN, "digest", subject, "why")


def test_what_is_appended_is_read_in_its_order(file: Path) -> None:
    store = ReceiptStore(lambda: file)
    store.append([receipt("one"), receipt("two")])
    store.append([receipt("three \ud800")])
    ReceiptStore(lambda: file).append([receipt("four")])
    entries = read_entries(file)
    assert [entry.receipt.subject for entry in entries] == ["one", "two", "three \ud800", "four"]
    assert find_fault(entries) is None
    assert file.stat().st_mode & 0o777 == 0o600


def test_no_file_has_no_entries(file: Path) -> None:
    assert read_entries(file) == []
    assert not file.exists()


def test_processes_that_append_at_once_make_one_chain(file: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", APPEND, str(file), name]) for name in ("a", "b")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    entries = read_entries(file)
    assert find_fault(entries) is None
    subjects = [entry.receipt.subject for entry in entries]
    for name in ("a", "b"):
        assert [text for text in subjects if text.startswith(name)] == [f"{name} {number}" for number in range(50)]


def test_a_file_that_cannot_be_used_is_an_error(file: Path) -> None:
    store = ReceiptStore(lambda: file)
    file.write_bytes(b"no database" * 1000)
    with pytest.raises(ReceiptsUnusable, match="file of receipts"):
        store.append([receipt("one")])
    with pytest.raises(ReceiptsUnusable, match="file of receipts"):
        read_entries(file)
    assert file.read_bytes() == b"no database" * 1000  # it can be evidence
    file.unlink()
    store.append([receipt("two")])
    assert len(read_entries(file)) == 1


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReceiptsUnusable, match="No such file"):
        ReceiptStore(lambda: tmp_path / "missing" / "receipts").append([receipt("one")])


def test_a_writer_that_holds_the_file_is_waited_for_only_briefly(file: Path) -> None:
    store = ReceiptStore(lambda: file)
    store.append([receipt("one")])
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ReceiptsUnusable, match="locked"):
        store.append([receipt("two")])
    other.execute("ROLLBACK")
    other.close()
    store.append([receipt("three")])
    assert [entry.receipt.subject for entry in read_entries(file)] == ["one", "three"]


def test_a_file_that_was_removed_takes_no_more_receipts(file: Path) -> None:
    store = ReceiptStore(lambda: file)
    store.append([receipt("one")])
    for path in file.parent.iterdir():
        path.unlink()
    store.append([receipt("two")])
    assert [entry.receipt.subject for entry in read_entries(file)] == ["two"]
