"""The parts put together: folders that come and go, saving, and one file without a folder."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.documents import client_state
from tark_lsp.server.features import create_server
from tests.server.desk import TEXT, MakeDesk, allow

pytestmark = pytest.mark.virtual_clock

ASK = "tark/requestPermission"


def test_every_method_of_the_contract_is_served() -> None:
    manager = create_server().protocol.fm
    assert {
        "initialized",
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/willSave",
        "textDocument/didSave",
        "textDocument/didClose",
        "textDocument/codeAction",
        "textDocument/codeLens",
        "textDocument/hover",
        "workspace/executeCommand",
        "workspace/didChangeConfiguration",
        "workspace/didChangeWorkspaceFolders",
        "workspace/didCreateFiles",
        "workspace/didRenameFiles",
        "workspace/didDeleteFiles",
        "window/workDoneProgress/cancel",
    } <= {*manager.features, *manager.builtin_features}


# Folders


async def test_folders_come_and_go(make: MakeDesk, tmp_path: Path) -> None:
    desk = make()
    other = (tmp_path / "other").resolve()
    (other / ".tark").mkdir(parents=True)
    (other / ".tark" / "config.toml").write_text('mode = "plan"\n')

    async def folders() -> list[str]:
        return list((await desk.command("tark.doctor"))["folders"])

    desk.app.folders_changed({"event": {"added": [{"uri": other.as_uri(), "name": "other"}], "removed": []}})
    assert await folders() == [str(desk.folder), str(other)]
    assert (await desk.settings())["mode"] == "plan"
    desk.app.folders_changed({"event": {"added": [], "removed": [{"uri": desk.folder.as_uri(), "name": "x"}]}})
    assert await folders() == [str(other)]
    for nonsense in ({}, {"event": None}, {"event": {"added": 7, "removed": [None, {"uri": 3}]}}):
        desk.app.folders_changed(nonsense)
    assert await folders() == [str(other)]


# Saving


async def test_what_was_saved_before_is_saved_after(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_state, "SAVED_SECONDS", 0.05)
    desk = make(tark=["updates", "permission", "save"], config='editReview = "after"\napproval = "balanced"')
    path = desk.editor.open("f.py", TEXT)

    def save(params: Any) -> Any:
        desk.editor.save(path)
        return {"saved": params["uris"]}

    desk.connection.answers["tark/save"] = save
    await desk.end(await desk.start("edit f.py", path))
    await asyncio.sleep(0.01)
    assert path.read_text() == TEXT.replace("line 3", "THREE")
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (hunk["applied"], hunk["state"]) == (True, "pending"), "our save is not the person's, which accepts"
    await desk.settled()
    desk.editor.save(path)
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert hunk["state"] == "accepted"


@pytest.mark.parametrize("typed", [False, True])
async def test_so_it_is_with_undo_and_redo(make: MakeDesk, monkeypatch: pytest.MonkeyPatch, typed: bool) -> None:
    monkeypatch.setattr(client_state, "SAVED_SECONDS", 0.05)
    desk = make(tark=["updates", "permission", "save"], config='editReview = "after"\napproval = "balanced"')
    path = desk.editor.open("f.py", TEXT)

    def save(params: Any) -> Any:
        desk.editor.save(path)
        return {"saved": params["uris"]}

    desk.connection.answers["tark/save"] = save
    turn = await desk.start("edit f.py", path)
    await desk.end(turn)
    await asyncio.sleep(0.01)
    saved = changed = TEXT.replace("line 3", "THREE")
    assert path.read_text() == changed
    if typed:
        desk.editor.type(path, (0, 0, "mine\n"))
    for name, text in (("undo", TEXT), ("redo", changed)):
        assert (await desk.command(f"tark.turn.{name}", {"turnId": turn}))["kept"] == []
        await asyncio.sleep(0.01)
        assert desk.editor.text(path).removeprefix("mine\n") == text
        assert path.read_text() == (saved if typed else text)


@pytest.mark.parametrize(("dirty", "config"), [(True, ""), (False, "saveAfterEdit = false")])
async def test_nothing_else_is_saved(make: MakeDesk, dirty: bool, config: str) -> None:
    desk = make(tark=["updates", "permission", "save"], config=config)
    path = desk.editor.open("f.py", TEXT)
    if dirty:
        desk.editor.type(path, (0, 0, "unsaved\n"))
    desk.connection.answers[ASK] = allow
    await desk.end(await desk.start("edit f.py", path))
    assert "tark/save" not in [method for method, _ in desk.connection.asked]


# One file, no folder


async def test_the_folder_of_the_document_is_the_workspace_of_the_turn(make: MakeDesk, tmp_path: Path) -> None:
    desk = make(folders=[])
    path = desk.editor.open("f.py", TEXT)
    (desk.folder / "beside.py").write_text(TEXT)
    (tmp_path / "outside.py").write_text(TEXT)
    desk.connection.answers[ASK] = allow
    turn = await desk.start("edit beside.py", path)
    assert (await desk.end(turn))["edits"] == [{"uri": (desk.folder / "beside.py").as_uri(), "state": "applied"}]
    (notice,) = desk.updates(turn, "notice")
    assert notice["level"] == "warning"
    assert str(desk.folder) in notice["message"]
    assert desk.updates(turn)[0]["kind"] == "start"
    again = await desk.start("edit ../outside.py", path)
    assert (await desk.end(again))["edits"] == []
    assert desk.updates(again, "notice") == [], "said once"
    assert (tmp_path / "outside.py").read_text() == TEXT
    assert (await desk.command("tark.turn.undo", {"turnId": turn}))["kept"] == []
    assert (desk.folder / "beside.py").read_text() == TEXT


async def test_the_next_turn_has_another_folder_and_only_that(make: MakeDesk, tmp_path: Path) -> None:
    desk = make(folders=[])
    one = desk.editor.open("f.py", TEXT)
    (tmp_path / "other").mkdir()
    other = desk.editor.open("../other/g.py", TEXT)
    desk.connection.answers[ASK] = allow
    await desk.end(await desk.start("edit f.py", one))
    turn = await desk.start(f"edit {one}", desk.editor.folder / "../other/g.py")
    assert (await desk.end(turn))["edits"] == []
    turn = await desk.start("edit g.py", (tmp_path / "other" / "g.py").resolve())
    assert [edit["state"] for edit in (await desk.end(turn))["edits"]] == ["applied"]
    assert desk.editor.text(other).count("THREE") == 1
    alone = await desk.start(f"edit {one}")
    assert (await desk.end(alone))["edits"] == [], "a turn about no document has no folder"


@pytest.mark.parametrize("above", [False, True], ids=["the home folder", "a folder that holds it"])
async def test_in_the_home_folder_there_is_only_the_document(
    make: MakeDesk, monkeypatch: pytest.MonkeyPatch, above: bool
) -> None:
    desk = make(folders=[])
    monkeypatch.setenv("HOME", str(desk.folder / "person" if above else desk.folder))
    path = desk.editor.open("f.py", TEXT)
    (desk.folder / "secret.py").write_text(TEXT)
    desk.connection.answers[ASK] = allow
    turn = await desk.start("edit secret.py", path)
    assert (await desk.end(turn))["edits"] == []
    (notice,) = desk.updates(turn, "notice")
    assert "only f.py can be read and edited. Open a folder for more" in notice["message"]
    for prompt in ("list .", "run ls", "write new.py", f"edit {desk.folder / 'secret.py'}", "edit ./x/../secret.py"):
        await desk.end(await desk.start(prompt, path))
    assert sorted(item.name for item in desk.folder.iterdir()) == ["f.py", "secret.py"]
    assert (desk.folder / "secret.py").read_text() == TEXT
    assert [method for method, _ in desk.connection.asked if method == ASK] == []
    assert [edit["state"] for edit in (await desk.end(await desk.start("edit f.py", path)))["edits"]] == ["applied"]
    assert desk.editor.text(path) == TEXT.replace("line 3", "THREE")


async def test_once_a_folder_is_open_it_counts(make: MakeDesk, tmp_path: Path) -> None:
    desk = make(folders=[])
    path = desk.editor.open("f.py", TEXT)
    desk.connection.answers[ASK] = allow
    await desk.end(await desk.start("edit f.py", path))
    other = (tmp_path / "other").resolve()
    other.mkdir()
    desk.app.folders_changed({"event": {"added": [{"uri": other.as_uri(), "name": "other"}], "removed": []}})
    turn = await desk.start(f"edit {path}", path)
    assert (await desk.end(turn))["edits"] == []


async def test_settings_of_the_folder_count(make: MakeDesk) -> None:
    desk = make(folders=[])
    (desk.folder / ".tark").mkdir()
    (desk.folder / ".tark" / "config.toml").write_text('[permissions]\ndeny = ["edit_file"]\n')
    path = desk.editor.open("f.py", TEXT)
    assert (await desk.end(await desk.start("edit f.py", path)))["edits"] == []
    assert ASK not in [method for method, _ in desk.connection.asked]


@pytest.mark.real_clock
@pytest.mark.parametrize("config", ['editReview = "after"', ""])
async def test_a_granted_command_is_asked_about_again_after_an_unreviewed_edit(make: MakeDesk, config: str) -> None:
    """At `balanced`, whether the edit waits for a review or counts as accepted."""
    desk = make(config=f'approval = "balanced"\n{config}')
    asked: list[str] = []

    def answer(params: Any) -> Any:
        asked.append(params["why"])
        return {"outcome": "allow", "digest": params["digest"], "grant": params["grants"][1]["id"]}

    desk.connection.answers[ASK] = answer
    (desk.folder / "f.py").write_text(TEXT)
    session = (await desk.command("tark.session.new", {}))["sessionId"]
    for prompt in ("run true", "run true", "edit f.py", "run true", "run true"):
        await desk.end(await desk.start(prompt, sessionId=session))
    assert asked == [
        "it runs a command without a sandbox",
        "it runs a command without a sandbox: f.py was changed since you allowed it, and is not reviewed yet",
    ]
