"""The writer's work in this process: what is left when a file is marked again while it is being indexed."""

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest

from tark_lsp.index import helpers
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import State
from tark_lsp.index.helpers import FAILED, Helpers, prepare_here
from tark_lsp.index.prepared import Prepared, prepare
from tark_lsp.index.scanning import look_at
from tark_lsp.index.worker import Worker
from tests.index.building import write
from tests.patience import AT_ONCE


def disk_with(folder: Path, cache: Path, count: int) -> tuple[DiskIndex, list[str]]:
    write(folder, {f"m{number}.py": f"def name{number}():\n    pass\n" for number in range(count)})
    paths = sorted(map(str, folder.glob("*.py")))
    disk = DiskIndex(cache, writable=True)
    disk.store.queue.mark([seen for path in paths if (seen := look_at(path)) is not None])
    return disk, paths


def all_may(paths: Sequence[str]) -> Sequence[bool]:
    return [True] * len(paths)


def test_a_file_that_is_marked_while_it_is_indexed_is_done_again(tmp_path: Path) -> None:
    disk, paths = disk_with(tmp_path / "work", tmp_path / "cache", 1)
    (row,) = disk.store.queue.next_work(5)
    disk.begin([row])
    disk.take(row, prepare(row.path, row.hash), is_allowed=True)
    write(tmp_path / "work", {"m0.py": "def another():\n    pass\n"})
    disk.store.queue.mark([seen for path in paths if (seen := look_at(path)) is not None])
    disk.commit()
    found = disk.store.file(paths[0])
    assert found is not None
    assert found.state is State.DUE
    assert disk.store.files([found.id]) == {}, "its words and its rows can differ, so it answers nothing"
    worker = Worker(all_may, prepare_here)
    while worker.step(disk, is_full=False):
        pass
    assert [definition.name for definition in disk.store.outline(found.id).definitions] == ["another"]
    assert disk.text.documents == 1
    disk.close()


def test_helpers_are_replaced_before_they_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "MOST_FILES", 2)
    write(tmp_path, {f"m{number}.py": f"def name{number}():\n    pass\n" for number in range(5)})
    paths = sorted(map(str, tmp_path.glob("*.py")))
    many = Helpers(1)
    coming = [many.prepare(path, b"") for path in paths]
    assert [one.result(AT_ONCE) for one in coming] == [prepare(path, b"") for path in paths]
    many.close()


def test_a_file_that_no_helper_survives_is_skipped_until_it_changes(tmp_path: Path) -> None:
    disk, paths = disk_with(tmp_path / "work", tmp_path / "cache", 3)

    def prepare_or_fail(path: str, known: bytes) -> Future[Prepared | None]:
        failed: Future[Prepared | None] = Future()
        failed.set_result(Prepared(b"", -1, -1, FAILED))
        return failed if Path(path).name == "m0.py" and is_deadly else prepare_here(path, known)

    is_deadly = True
    worker = Worker(all_may, prepare_or_fail)
    while worker.step(disk, is_full=False):
        pass
    assert disk.store.totals().skipped == (("its parsing failed", 1),)
    is_deadly = False
    disk.store.queue.compare([seen for path in paths if (seen := look_at(path)) is not None])
    while worker.step(disk, is_full=False):
        pass
    assert disk.store.totals().skipped == (("its parsing failed", 1),), "it has not changed"
    write(tmp_path / "work", {"m0.py": "def repaired():\n    pass\n"})
    disk.store.queue.compare([seen for path in paths if (seen := look_at(path)) is not None])
    while worker.step(disk, is_full=False):
        pass
    assert disk.store.totals().skipped == ()
    disk.close()
