"""The index in the server: when it runs, what it is told, and that no answer has what the model must not see."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.index.questions import DefinitionsOf, Search, SymbolsIn
from tark_lsp.index.status import IndexState
from tark_lsp.permissions.store import PermissionStore
from tests.server.indexing.conftest import TRUSTED, MakeIndexed

pytestmark = pytest.mark.slow  # each test starts an index process

SHAPES = "class Shape:\n    def area(self):\n        return 1\n"
DENY = '\n[permissions]\ndeny = ["read_file(hidden/**)"]\nask = ["read_file(asked/**)"]\n'


async def test_it_starts_with_a_turn_and_ends_with_the_server(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    assert (await desk.command("tark.index.status"))["reason"].startswith("nothing has needed it yet")
    await desk.end(await desk.start("hello"))
    await desk.until(IndexState.READY)
    status = await desk.command("tark.index.status")
    assert (status["state"], status["files"], status["indexed"], status["reason"]) == ("ready", 1, 1, "")
    assert status["definitions"] >= 2
    assert (await desk.command("tark.state"))["index"] == status
    assert (await desk.command("tark.doctor"))["index"]["text"].startswith("ready, 1 of 1 files")
    assert await desk.found("area") == ["shapes.py"]
    await desk.stop()
    with pytest.raises(ToolError, match="there is no code index, because the server ends"):
        await desk.found("area")


async def test_a_chat_that_opens_starts_it(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    desk.editor.open("talk.tark.md", "# Chat\n", on_disk=False)
    await desk.until(IndexState.READY)


async def test_without_trust_nothing_starts(make_indexed: MakeIndexed, tmp_path: Path) -> None:
    """Not at once, and not after trust was given and revoked."""
    desk = await make_indexed({"shapes.py": SHAPES}, config="")
    await desk.end(await desk.start("hello"))
    await desk.settled()
    status = await desk.command("tark.index.status")
    assert (status["state"], status["files"]) == ("off", 0)
    assert "this workspace is not trusted: run `tark-lsp permissions trust`" in status["reason"]
    with pytest.raises(ToolError, match="because this workspace is not trusted"):
        await desk.found("area")
    assert not (tmp_path / "home" / "cache").exists()

    elsewhere = PermissionStore(lambda: tmp_path / "home" / "state" / "tark" / "permissions.sqlite3", print)
    trust = elsewhere.add(desk.folder)
    assert await desk.found("area") == ["shapes.py"], "trust that another process stored counts at the next question"
    elsewhere.revoke([trust.id])
    elsewhere.close()
    with pytest.raises(ToolError, match="because this workspace is not trusted"):
        await desk.found("area")
    assert desk.index.process.last_status.state is IndexState.OFF


async def test_trust_given_to_this_server_starts_it_and_revoking_ends_it(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES}, config="")
    await desk.end(await desk.start("hello"))
    trust = desk.app.parts.given.add(desk.folder)
    await desk.until(IndexState.READY)
    await desk.command("tark.permissions.revoke", {"ids": [trust.id]})
    await desk.until(IndexState.OFF)


async def test_the_setting_turns_it_off_while_it_runs(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    await desk.end(await desk.start("hello"))
    await desk.until(IndexState.READY)
    desk.config.write_text(desk.config.read_text() + "[index]\nenabled = false\n")
    desk.app.parts.configuration.reload()
    await desk.until(IndexState.OFF)
    assert "index.enabled is false" in (await desk.command("tark.index.status"))["reason"]


async def test_no_answer_has_what_rules_secrets_and_protected_paths_keep(make_indexed: MakeIndexed) -> None:
    files = {
        "open.py": "def secret_sauce():\n    pass\n",
        "hidden/a.py": "def secret_sauce():\n    pass\n",
        "asked/a.py": "def secret_sauce():\n    pass\n",
        ".env": "secret_sauce=1\n",
        ".github/a.py": "def secret_sauce():\n    pass\n",
    }
    desk = await make_indexed(files, config=TRUSTED + DENY)
    found = await desk.index.ask(Search("secret sauce", 20))
    assert [item.path.name for item in found.items] == ["open.py"]
    assert [item.path.name for item in (await desk.index.ask(DefinitionsOf("secret_sauce"))).items] == ["open.py"]
    assert (await desk.index.ask(SymbolsIn(desk.folder / "hidden" / "a.py"))).items == []


async def test_a_rule_that_is_new_holds_for_the_next_answer(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"open.py": SHAPES, "hidden/a.py": SHAPES, "asked/a.py": SHAPES})
    assert await desk.found("area") == ["a.py", "a.py", "open.py"]
    desk.config.write_text(desk.config.read_text() + DENY)
    desk.app.parts.configuration.reload()
    assert await desk.found("area") == ["open.py"]
    desk.config.write_text(desk.config.read_text().replace(DENY, ""))
    desk.app.parts.configuration.reload()
    await desk.finds("area", "a.py", "a.py", "open.py")


async def test_unsaved_text_is_found_and_hidden_text_is_never_shown_to_the_index(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES, "hidden/a.py": SHAPES}, config=TRUSTED + DENY)
    assert await desk.found("volume") == []
    path = desk.editor.open("shapes.py", SHAPES)
    desk.editor.replace(path, SHAPES + "    def volume(self):\n        return 2\n")
    assert await desk.found("volume") == ["shapes.py"], "at once, without a pause in typing"
    hidden = desk.editor.open("hidden/a.py", SHAPES)
    desk.editor.replace(hidden, "def volume(): ...\n")
    assert await desk.found("volume") == ["shapes.py"]
    desk.editor.close(path)
    await desk.finds("volume")


async def test_saved_created_renamed_and_removed_files(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    assert await desk.found("area") == ["shapes.py"]
    path = desk.editor.open("shapes.py", SHAPES)
    desk.editor.replace(path, "def volume(): ...\n")
    desk.editor.save(path)
    await desk.finds("volume", "shapes.py")
    await desk.finds("area")

    new = desk.folder / "new.py"
    new.write_text("def weight(): ...\n")
    desk.app.files_created({"files": [{"uri": new.as_uri()}]})
    await desk.finds("weight", "new.py")
    moved = new.rename(desk.folder / "moved.py")
    desk.app.files_renamed({"files": [{"oldUri": new.as_uri(), "newUri": moved.as_uri()}]})
    await desk.finds("weight", "moved.py")
    moved.unlink()
    desk.app.files_deleted({"files": [{"uri": moved.as_uri()}]})
    await desk.finds("weight")


async def test_files_that_the_agent_and_commands_write(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    desk.connection.answers["tark/requestPermission"] = lambda _: {"outcome": "allow"}
    assert await desk.found("area") == ["shapes.py"]
    await desk.end(await desk.start("write made.py"))
    assert (desk.folder / "made.py").read_text() == "new\n"
    await desk.finds_words("new", "made.py")
    await desk.end(await desk.start("run printf 'def weight(): ...' >by_command.py"))
    assert (desk.folder / "by_command.py").exists()
    await desk.finds("weight", "by_command.py")


async def test_clients_that_can_watch_files_are_asked_to_while_it_runs(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES}, "workspace.didChangeWatchedFiles.dynamicRegistration")
    for method in ("client/registerCapability", "client/unregisterCapability"):
        desk.connection.answers[method] = lambda _: None
    assert await desk.found("area") == ["shapes.py"]
    registered = await desk.connection.asking("client/registerCapability")
    assert [one["method"] for one in registered["registrations"]] == ["workspace/didChangeWatchedFiles"]
    (desk.folder / "new.py").write_text("def weight(): ...\n")
    desk.app.watched_files_changed({"changes": [{"uri": (desk.folder / "new.py").as_uri(), "type": 1}]})
    await desk.finds("weight", "new.py")
    for number in range(300):
        (desk.folder / f"f{number}.py").write_text(f"def many{number}(): ...\n")
    many = [{"uri": (desk.folder / f"f{number}.py").as_uri(), "type": 1} for number in range(300)]
    desk.app.watched_files_changed({"changes": many})
    await desk.finds("many299", "f299.py")
    for nonsense in ({}, {"changes": 7}, {"changes": [None, {}, {"uri": 3}, {"uri": "untitled:x"}]}):
        desk.app.watched_files_changed(nonsense)
    desk.config.write_text(desk.config.read_text() + "[index]\nenabled = false\n")
    desk.app.parts.configuration.reload()
    withdrawn = await desk.connection.asking("client/unregisterCapability")
    assert withdrawn["unregisterations"][0]["id"] == registered["registrations"][0]["id"]


async def test_a_child_that_is_killed_is_started_again(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    assert await desk.found("area") == ["shapes.py"]
    first = child_of(desk.index)
    os.kill(first, signal.SIGKILL)
    assert await desk.found("area") == ["shapes.py"]
    assert child_of(desk.index) != first
    assert desk.connection.notes() == []


async def test_edits_in_memory_are_found(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES}, tark=("updates", "permission", "inMemory"))
    assert await desk.found("area") == ["shapes.py"]
    workspace = desk.app.parts.workspace
    await desk.end(await desk.start("write made.py"))
    assert [change.path.name for change in workspace.memory_changes()] == ["made.py"]
    found = await desk.index.ask(Search("new", 5))
    assert [item.path.name for item in found.items] == ["made.py"]


async def test_folders_that_come_and_go(make_indexed: MakeIndexed, tmp_path: Path) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "other.py").write_text("def elsewhere(): ...\n")
    assert await desk.found("elsewhere") == []
    desk.app.folders_changed({"event": {"added": [{"uri": other.as_uri(), "name": "other"}], "removed": []}})
    await desk.finds("elsewhere", "other.py")
    removed = [{"uri": folder.as_uri(), "name": "x"} for folder in (other, desk.folder)]
    desk.app.folders_changed({"event": {"added": [], "removed": removed}})
    with pytest.raises(ToolError, match="no folder is open"):
        await desk.found("elsewhere")


async def test_rebuilding(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed({"shapes.py": SHAPES})
    assert (await desk.command("tark.index.rebuild"))["state"] == "building"
    await desk.until(IndexState.READY)
    assert await desk.found("area") == ["shapes.py"]


def child_of(index: Any) -> int:
    client = index.process.client
    assert client is not None
    return int(client.process_id)
