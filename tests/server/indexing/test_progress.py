"""Progress of the index: none for a short build, one of its own for a long one, and what is wrong is said once."""

import asyncio
from typing import Any

import pytest

from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.indexing.progress import BEGIN_SECONDS, IndexProgress
from tests.server.scripted import ScriptedConnection, capabilities, refuse

pytestmark = pytest.mark.virtual_clock

SHORT, LONG = BEGIN_SECONDS * 0.9, BEGIN_SECONDS * 1.1
CREATE = "window/workDoneProgress/create"


class Shown:
    def __init__(self, *paths: str, answer: Any = lambda _: None) -> None:
        self.connection = ScriptedConnection(capabilities(*(paths or ("window.workDoneProgress",))))
        self.connection.answers[CREATE] = answer
        self.warned: list[str] = []
        self.background = BackgroundTasks()
        self.progress = IndexProgress(self.connection, self.warned.append, self.background)

    def show(self, state: IndexState, indexed: int = 0, files: int = 0, reason: str = "") -> None:
        self.progress.show(IndexStatus(state, files=files, indexed=indexed, reason=reason))

    @property
    def values(self) -> list[dict[str, Any]]:
        assert {method for method, _ in self.connection.told} <= {"$/progress"}
        return [params["value"] for _, params in self.connection.told]


async def test_a_short_build_is_not_shown() -> None:
    shown = Shown()
    shown.show(IndexState.BUILDING, 0, 10)
    await asyncio.sleep(SHORT)
    shown.show(IndexState.READY, 10, 10)
    await asyncio.sleep(LONG)
    assert shown.connection.asked == []
    assert shown.values == []


async def test_a_long_build_has_one_progress_with_a_report_a_second() -> None:
    shown = Shown()
    shown.show(IndexState.BUILDING)
    await asyncio.sleep(LONG)
    for indexed in range(0, 3000, 100):
        shown.show(IndexState.BUILDING, indexed, 3000)
        await asyncio.sleep(0.1)
    shown.show(IndexState.READY, 3000, 3000)
    await asyncio.sleep(10)
    begin, *reports, end = shown.values
    assert begin == {"kind": "begin", "title": "Tark: indexing", "cancellable": False}
    assert [report["kind"] for report in reports] == ["report"] * 3
    assert reports[1]["message"].endswith(" of 3,000 files")
    assert 0 < reports[0]["percentage"] < reports[1]["percentage"] < 100
    assert end == {"kind": "end", "message": "3,000 files"}
    assert len({params["token"] for _, params in shown.connection.told}) == 1
    assert [method for method, _ in shown.connection.asked] == [CREATE]


async def test_a_build_that_ends_while_the_editor_accepts_the_token_is_not_shown() -> None:
    accepted = asyncio.Event()
    shown = Shown(answer=lambda _: accepted.wait())
    shown.show(IndexState.BUILDING)
    await asyncio.sleep(LONG)
    shown.show(IndexState.READY, 5, 5)
    shown.show(IndexState.BUILDING)
    accepted.set()
    await asyncio.sleep(SHORT)
    shown.show(IndexState.READY, 5, 5)
    await shown.background.finished()
    assert shown.values == []


async def test_an_editor_without_progress_or_that_refuses_gets_none() -> None:
    for shown in (Shown("window.other"), Shown(answer=refuse)):
        shown.show(IndexState.BUILDING)
        await asyncio.sleep(LONG)
        shown.show(IndexState.READY, 5, 5)
        assert shown.values == []


async def test_a_build_that_fails_ends_its_progress_and_is_said_once() -> None:
    shown = Shown()
    shown.show(IndexState.BUILDING)
    await asyncio.sleep(LONG)
    for _ in range(3):
        shown.show(IndexState.FAILED, reason="the disk is full")
    shown.show(IndexState.OFF, reason="the setting index.enabled is false")
    assert [value["kind"] for value in shown.values] == ["begin", "end"]
    assert shown.warned == ["Tark: code index: the disk is full"]
    shown.show(IndexState.READY, 5, 5, reason="the stored index was damaged, so it was built again")
    assert len(shown.warned) == 2
