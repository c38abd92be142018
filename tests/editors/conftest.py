"""What tests of whole turns get: `open_editor`, which lends an editor in memory with a server behind it."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.editors.behaviour import Behaviour, Profile
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SCENARIO, Pool

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    pool = Pool(tmp_path_factory.mktemp("editors"))
    yield pool
    await pool.close()


@dataclass(frozen=True, slots=True)
class OpenEditor:
    """`flags`: what the editor understands of `tark/*`. Servers are shared by the tests that can."""

    pool: Pool

    async def __call__(self, profile: Profile, *flags: str, behaviour: Behaviour | None = None) -> MemoryEditor:
        return await self.pool.lend(profile, frozenset(flags), behaviour or profile.behaviour)

    async def in_empty_folder(self, profile: Profile, *flags: str, scenario: Path = SCENARIO) -> MemoryEditor:
        """With a shared server, which plays `scenario`; nothing that another test wrote is in its folder."""
        editor = await self.pool.lend(profile, frozenset(flags), profile.behaviour, scenario)
        for path in editor.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return editor

    async def to_end(self, profile: Profile, *flags: str) -> MemoryEditor:
        """With a server that the test may end."""
        return await self.pool.give(profile, frozenset(flags))

    async def fresh(self, profile: Profile, *flags: str, scenario: Path | None = None) -> MemoryEditor:
        """With a server of its own, which plays `scenario`."""
        return await self.pool.lend_fresh(profile, frozenset(flags), profile.behaviour, scenario)


@pytest_asyncio.fixture(loop_scope="session")
async def open_editor(pool: Pool, request: pytest.FixtureRequest) -> AsyncIterator[OpenEditor]:
    yield OpenEditor(pool)
    await pool.take_back(failed=request.node.stash.get(FAILED, False))
