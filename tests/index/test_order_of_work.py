"""Questions come before indexing: no answer waits for a commit, or for a thread of low priority."""

import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tark_lsp.index import answering
from tark_lsp.index.engine import Engine
from tark_lsp.index.helpers import Helpers
from tark_lsp.index.keeper import Keeper
from tark_lsp.index.priority import NICENESS
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.scanning import Scanner
from tark_lsp.index.text_index import TextIndex
from tests.index.building import write
from tests.patience import AT_ONCE

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")


@contextmanager
def engine_of(folder: Path, cache: Path) -> Iterator[tuple[Engine, Keeper]]:
    """An engine that knows the files, and has indexed none."""
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()
    keeper, scanner = Keeper(cache), Scanner([folder])
    keeper.open()
    engine = Engine([folder], keeper, scanner, lambda paths: [True] * len(paths), found.put, 10**9)
    engine.take_scan(found.get(timeout=AT_ONCE))
    try:
        yield engine, keeper
    finally:
        engine.abandon()
        scanner.close()


def names(engine: Engine, name: str, waited: float = 0.0) -> Sequence[str]:
    return [found.path.name for found in engine.answer(DefinitionsOf(name), waited=waited).items]


def finish(engine: Engine) -> None:
    while engine.step():
        pass


def test_a_question_is_answered_while_words_are_committed(work: Path, cache: Path) -> None:
    with engine_of(work, cache) as (engine, keeper):
        finish(engine)
        disk = keeper.writer
        assert disk is not None
        disk.store.queue.mark_again([str(work / "web" / "storage.ts")])
        go_on = threading.Event()
        assert disk.text.writing is not None
        held = disk.text.writing.submit(go_on.wait)
        try:
            while not disk.is_committing:
                assert engine.step()
            for _ in range(3):
                assert engine.step(), "it waits for the commit, but not within a step"
                assert names(engine, "squared") == ["shapes.py"]
        finally:
            go_on.set()
        assert held.result(AT_ONCE)
        finish(engine)
        assert names(engine, "storePicture") == ["storage.ts"]


def test_a_question_that_waited_is_answered_from_what_there_is(work: Path, cache: Path) -> None:
    with engine_of(work, cache) as (engine, _):
        assert names(engine, "squared", waited=60.0) == []
        assert names(engine, "squared") == ["shapes.py"]


def test_files_about_the_same_words_are_looked_for_once(
    work: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Sequence[str]] = []
    look = Scanner.first_files

    def first_files(scanner: Scanner, words: Sequence[str], identifiers: Sequence[str], seconds: float) -> list[str]:
        looked.append(words)
        return look(scanner, words, identifiers, seconds)

    monkeypatch.setattr(Scanner, "first_files", first_files)
    with engine_of(work, cache) as (engine, _):
        assert names(engine, "squared") == ["shapes.py"]
        (hit,) = engine.answer(Search("squared", 5), waited=0.0).items[:1]
        assert hit.path.name == "shapes.py"
        assert len(looked) == 1
        engine.rebuild()
        assert names(engine, "squared") == ["shapes.py"]
        assert len(looked) == 2


def test_many_questions_in_a_row_are_answered_from_what_there_is(
    work: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "MOST_WAITING", 2)
    write(work, {f"{name}.py": f"def {name}():\n    pass\n" for name in ("apple", "berry", "cherry")})
    with engine_of(work, cache) as (engine, _):
        assert names(engine, "apple") == ["apple.py"]
        assert names(engine, "berry") == ["berry.py"]
        assert names(engine, "cherry") == [], "two files that were read for questions are not indexed yet"
        assert names(engine, "apple") == ["apple.py"]
        finish(engine)
        assert names(engine, "cherry") == ["cherry.py"]


def niceness_of_thread() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@linux_only
def test_the_thread_that_takes_turns_has_normal_priority(tmp_path: Path) -> None:
    """If it had a low one, who waits for its turn would wait until all other programs of the machine have time."""
    before = niceness_of_thread()
    index = TextIndex(tmp_path, writable=True)
    index.add(1, [{"body": "words"}])
    index.commit()
    own = Path("/proc/self/task")
    writers = [int(task.name) for task in own.iterdir() if (task / "comm").read_text().startswith("thrd-tantivy")]
    assert writers
    assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in writers} == {min(19, before + NICENESS)}
    index.close()
    assert niceness_of_thread() == before


@linux_only
def test_helpers_have_a_low_priority_and_their_threads_do_not(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def a():\n    pass\n"})
    before = niceness_of_thread()
    others = {child.pid for child in psutil.Process().children()}
    threads = {thread.id for thread in psutil.Process().threads()}
    many = Helpers(1)
    assert many.prepare(str(tmp_path / "a.py"), b"").result(AT_ONCE) is not None
    (helper,) = [child for child in psutil.Process().children() if child.pid not in others]
    assert helper.nice() == min(19, before + NICENESS)
    own = {thread.id for thread in psutil.Process().threads()} - threads
    assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in own} == {before}
    many.close()
