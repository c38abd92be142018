"""Any order of edits, saves, renames, removals, open documents and crashes leaves the index equal to a fresh build."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tark_lsp.index.answers import ANSWERS
from tark_lsp.index.cache_folder import workspace_cache
from tark_lsp.index.client import IndexClient
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.model import Found, Hit
from tark_lsp.index.questions import DefinitionsOf, ReferencesTo, Search, SymbolsLike
from tark_lsp.index.view import View
from tests.exhaustive import examples
from tests.index.building import dump, fresh
from tests.patience import AT_ONCE

WORDS = ("alpha", "beta", "gamma", "delta")
FILES = ("a.py", "b.ts", "deep/er/c.py")
FOLDERS = ("deep", "deep/er")
PYTHON = "def {0}():\n    return {1}()\n\n\nclass Of{2}:\n    def {3}(self):\n        return {0}({1})\n"


class Told(Enum):
    """How the index hears of a change, and whether the next step waits until it is indexed."""

    EVENT = auto()
    EVENT_AND_WAIT = auto()
    SCAN = auto()
    SCAN_AND_WAIT = auto()


texts = st.one_of(
    st.tuples(*[st.sampled_from(WORDS)] * 4).map(lambda words: PYTHON.format(*words)),
    st.sampled_from(
        ["", "alpha\n", "beta beta\r\n", "gamma\0", "# @generated\nalpha\n", "x" * 6_000, "import delta\n" * 90]
    ),
)
names = st.sampled_from(FILES)
ways = st.sampled_from([Told.EVENT_AND_WAIT, Told.SCAN_AND_WAIT, Told.EVENT, Told.SCAN])


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.folder = self.home / "work"
        self.folder.mkdir()
        self.denied: set[str] = set()
        self.opened: dict[str, str] = {}
        self.runner = asyncio.Runner()
        self.client = self.new_client()

    def new_client(self) -> IndexClient:
        client = IndexClient([self.folder], self.home / "cache", self.may_index)
        self.runner.run(client.start())
        return client

    def may_index(self, paths: Sequence[Path]) -> Sequence[bool]:
        return [path.name not in self.denied for path in paths]

    async def tell(self, *paths: str, told: Told) -> None:
        if told in (Told.EVENT, Told.EVENT_AND_WAIT):
            self.client.files_changed([self.folder / path for path in paths])
        else:
            self.client.rescan()
        if told in (Told.EVENT_AND_WAIT, Told.SCAN_AND_WAIT):
            await self.client.settle(AT_ONCE)

    @initialize(first=st.lists(st.tuples(names, texts), max_size=3))
    def begin(self, first: list[tuple[str, str]]) -> None:
        for name, text in first:
            self.save(name, text, told=Told.SCAN)

    @rule(name=names, text=texts, told=ways)
    def save(self, name: str, text: str, told: Told) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        self.runner.run(self.tell(name, told=told))

    @rule(name=st.sampled_from([*FILES, *FOLDERS]), told=ways)
    def remove(self, name: str, told: Told) -> None:
        path = self.folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        self.runner.run(self.tell(name, told=told))

    @rule(old=st.sampled_from([*FILES, *FOLDERS]), new=names, told=ways)
    def rename(self, old: str, new: str, told: Told) -> None:
        if (self.folder / old).is_file() and (self.folder / new).parent.is_dir():
            (self.folder / old).replace(self.folder / new)
            self.runner.run(self.tell(old, new, told=told))

    @rule(patterns=st.sets(st.sampled_from(["*.py", "deep/", "a.*", "!a.py"])), told=ways)
    def ignore(self, patterns: set[str], told: Told) -> None:
        (self.folder / ".gitignore").write_text("\n".join(sorted(patterns, reverse=True)) + "\n")
        self.runner.run(self.tell(".gitignore", told=told))

    @rule(name=names)
    def deny(self, name: str) -> None:
        self.denied ^= {Path(name).name}
        self.client.rules_changed()

    @rule(name=names, text=texts)
    def open(self, name: str, text: str) -> None:
        async def show() -> None:
            self.client.show_text(self.folder / name, text)

        self.opened[name] = text
        self.runner.run(show())

    @rule(name=names)
    def close(self, name: str) -> None:
        self.opened.pop(name, None)
        self.client.show_text(self.folder / name, None)

    @rule(word=st.sampled_from(WORDS))
    def ask(self, word: str) -> None:
        found = self.runner.run(self.client.ask(Search(word, 5)))
        assert all(hit.path.name not in self.denied or hit.path.is_relative_to(self.folder) for hit in found.items)

    @rule()
    def settle(self) -> None:
        self.runner.run(self.client.settle(AT_ONCE))

    @rule(seconds=st.floats(0, 0.1))
    def crash(self, seconds: float) -> None:
        """The process is killed in the middle of whatever it does."""

        async def wait_and_kill() -> None:
            await asyncio.sleep(seconds)
            if (process := self.client.process_id) is not None:
                os.kill(process, signal.SIGKILL)
            await self.client.close()

        self.runner.run(wait_and_kill())
        self.client = self.new_client()
        for name, text in self.opened.items():
            self.open(name, text)

    def teardown(self) -> None:
        try:
            self.check()
        finally:
            self.runner.run(self.client.close())
            self.runner.close()
            shutil.rmtree(self.home)

    def check(self) -> None:
        self.client.rescan()
        self.runner.run(self.client.settle(AT_ONCE))
        disk = DiskIndex(workspace_cache(self.home / "cache", [self.folder]), writable=False)
        other = fresh(self.folder, self.home / "other", lambda path: Path(path).name not in self.denied)
        try:
            assert dump(disk, WORDS) == dump(other, WORDS)
            self.check_answers(other)
        finally:
            disk.close()
            other.close()

    def check_answers(self, other: DiskIndex) -> None:
        """With the open documents, all answers are those of an index of files with their texts."""
        listed = {path for path, _ in other.store.files_after("", 1_000)}
        mirror = self.home / "mirror"
        shutil.copytree(self.folder, mirror)
        for name, text in self.opened.items():
            if str(self.folder / name) in listed:
                (mirror / name).write_bytes(text.encode())
            else:
                self.client.show_text(self.folder / name, None)  # an index of files has no ignored ones
        disk = fresh(mirror, self.home / "third", lambda path: Path(path).name not in self.denied)
        try:
            for word in WORDS:
                for question in (
                    Search(word, 500),
                    DefinitionsOf(word),
                    ReferencesTo(word, 500),
                    SymbolsLike(word, 500),
                ):
                    expected = ANSWERS[type(question)](View(disk.store, disk.text, {}), question)
                    found = self.runner.run(self.client.ask(question))
                    assert shape(found, self.folder) == shape(expected, mirror)
        finally:
            disk.close()


def shape(found: Found[Any], folder: Path) -> set[object]:
    """What is in an answer, without scores and order, by relative paths."""
    return {
        replace(item, path=item.path.relative_to(folder), **({"score": 0.0} if isinstance(item, Hit) else {}))
        for item in found.items
    }


Histories.TestCase.settings = settings(
    max_examples=examples(10),
    stateful_step_count=14,
    phases=(Phase.generate,),  # to shrink takes minutes
)
TestHistories = Histories.TestCase
