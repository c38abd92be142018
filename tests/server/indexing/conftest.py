"""What tests of the index in the server get: `make_indexed`, a desk whose workspace is trusted, with files in it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.index.model import Found, FoundDefinition
from tark_lsp.index.questions import DefinitionsOf, Search
from tark_lsp.index.status import IndexState
from tark_lsp.server.indexing.workspace_index import WorkspaceIndex
from tests.patience import AT_ONCE
from tests.server.desk import Desk

TRUSTED = "workspaceTrusted = true"


class IndexDesk(Desk):
    @property
    def index(self) -> WorkspaceIndex:
        return self.app.parts.indexing.index

    async def until(self, state: IndexState) -> None:
        """The index has come to this state."""
        changed = asyncio.Event()
        stop = self.index.shown.listen(lambda _: changed.set())
        try:
            async with asyncio.timeout(AT_ONCE):
                while self.index.process.last_status.state is not state:
                    changed.clear()
                    await changed.wait()
        finally:
            stop()

    async def found(self, name: str) -> list[str]:
        """The names of the files that define it, by the index as it is."""
        answer: Found[FoundDefinition] = await self.index.ask(DefinitionsOf(name))
        return sorted(item.path.name for item in answer.items)

    async def finds(self, name: str, *files: str) -> None:
        """Until exactly these files define it: what an editor reports is indexed a moment later."""
        async with asyncio.timeout(AT_ONCE):
            while await self.found(name) != sorted(files):  # noqa: ASYNC110  # no event says that a file is indexed
                await asyncio.sleep(0.02)

    async def finds_words(self, words: str, *files: str) -> None:
        """The same for files that have the words."""
        async with asyncio.timeout(AT_ONCE):
            while await self._with_words(words) != {*files}:  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.02)

    async def _with_words(self, words: str) -> set[str]:
        return {item.path.name for item in (await self.index.ask(Search(words, 20))).items}


MakeIndexed = Callable[..., Awaitable[IndexDesk]]


@pytest.fixture
async def make_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeIndexed]:
    desks = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))

    async def made(files: Mapping[str, str], *paths: str, config: str = TRUSTED, **more: Any) -> IndexDesk:
        desk = IndexDesk(tmp_path, monkeypatch, *paths, config=config, indexed=True, **more)
        desks.append(desk)
        for name, text in files.items():
            (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (desk.folder / name).write_text(text)
        return desk

    yield made
    for desk in desks:
        await desk.stop()
