"""The writer's work in this process: what is left when a file is marked again while it is being indexed."""

from collections.abc import Sequence
from pathlib import Path

from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.file_rows import State
from tark_lsp.index.scanning import look_at
from tark_lsp.index.worker import Worker
from tests.index.building import write


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
    disk.take(row, is_allowed=True)
    write(tmp_path / "work", {"m0.py": "def another():\n    pass\n"})
    disk.store.queue.mark([seen for path in paths if (seen := look_at(path)) is not None])
    disk.commit()
    found = disk.store.file(paths[0])
    assert found is not None
    assert found.state is State.DUE
    assert disk.store.files([found.id]) == {}, "its words and its rows can differ, so it answers nothing"
    worker = Worker(all_may)
    while worker.step(disk, is_full=False):
        pass
    assert [definition.name for definition in disk.store.outline(found.id).definitions] == ["another"]
    assert disk.text.documents == 1
    disk.close()


def test_a_file_at_which_the_process_died_twice_is_skipped(tmp_path: Path) -> None:
    disk, paths = disk_with(tmp_path / "work", tmp_path / "cache", 3)
    for _ in range(2):
        row = disk.store.file(paths[0])
        assert row is not None
        disk.begin([row])
        disk.mark_parsing(row.id)
        disk.close()
        disk = DiskIndex(tmp_path / "cache", writable=True)
    worker = Worker(all_may)
    while worker.step(disk, is_full=False):
        pass
    assert disk.store.totals().skipped == (("its parsing failed", 1),)
    write(tmp_path / "work", {"m0.py": "def repaired():\n    pass\n"})
    disk.store.queue.compare([seen for path in paths if (seen := look_at(path)) is not None])
    while worker.step(disk, is_full=False):
        pass
    assert disk.store.totals().skipped == ()
    disk.close()
