"""The question whether a workspace is trusted: asked once, never against the editor's own answer, and stored."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.permissions.store import PermissionStore
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.workspace_trust import WorkspaceTrust
from tark_lsp.settings import Settings
from tark_lsp.workspace.documents import Documents
from tests.server.scripted import ScriptedConnection

pytestmark = pytest.mark.virtual_clock
ASK = "window/showMessageRequest"


class Asker:
    """A server's trust, with the answers of a user."""

    def __init__(self, root: Path, *answers: Any, trusted: bool | None = None) -> None:
        self.connection = ScriptedConnection()
        left = [*answers]
        self.connection.answers[ASK] = lambda _: left.pop(0)
        self.settings = Settings(workspace_trusted=trusted)
        self.store = PermissionStore(lambda: root / "permissions.sqlite3", print)
        questions = Questions(self.connection, Documents("utf-16"))
        self.trust = WorkspaceTrust(lambda: self.settings, self.store, questions)

    @property
    def asked(self) -> list[str]:
        return [params["message"] for method, params in self.connection.asked if method == ASK]

    async def ask(self, *folders: Path) -> bool:
        return await self.trust.ask(folders, "turn", "session")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project\u202e").mkdir()
    return tmp_path / "project\u202e"


async def test_trust_is_asked_once_and_holds_in_the_next_server(tmp_path: Path, folder: Path) -> None:
    asker = Asker(tmp_path, {"title": "Trust"})
    assert not asker.trust.is_trusted([folder])
    assert all(await asyncio.gather(asker.ask(folder), asker.ask(folder)))  # two turns at once
    (message,) = asker.asked
    assert f"do you trust {tmp_path}/project\\u{{202e}}?" in message
    again = Asker(tmp_path)
    assert again.trust.is_trusted([folder])
    assert await again.ask(folder)
    assert again.asked == []


@pytest.mark.parametrize("answer", [{"title": "Not Now"}, None, {"title": "Perhaps"}])
async def test_every_other_answer_is_not_now(tmp_path: Path, folder: Path, answer: Any) -> None:
    asker = Asker(tmp_path, answer)
    for _ in range(2):
        assert not await asker.ask(folder)
    assert len(asker.asked) == 1
    assert not asker.trust.can_ask([folder])
    assert asker.store.permissions() == []


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_editors_own_answer_counts_and_nothing_is_asked(
    tmp_path: Path, folder: Path, *, trusted: bool
) -> None:
    asker = Asker(tmp_path, trusted=trusted)
    asker.store.add(folder)
    assert await asker.ask(folder) is trusted
    assert asker.asked == []
    assert len(asker.store.permissions()) == 1


async def test_nothing_is_trusted_without_a_folder(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    assert not await asker.ask()
    assert asker.asked == []


async def test_trust_that_cannot_be_stored_is_said_and_is_not_there(tmp_path: Path, folder: Path) -> None:
    asker = Asker(tmp_path, {"title": "Trust"})
    folder.rmdir()
    assert not await asker.ask(folder)
    assert any("your trust cannot be stored" in note for note in asker.connection.notes())
    assert not await asker.ask(folder)
    assert len(asker.asked) == 1
