"""Hooks of a project in the whole language server: when they run, and that yours see what they left."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tark_lsp.folders import hook_pins_folder
from tark_lsp.hooks.pinning import approve, read_offers, resolve_hook
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox
from tests.server.desk import Desk

REWRITES = """\
import json
print(json.dumps({"arguments": {"path": "elsewhere"}}))
"""
OFFER = """\
[[hooks]]
name = "theirs"
on = "beforeTool"
command = "/usr/bin/python3"
args = ["-S", "rewrite.py"]
tools = ["list_directory"]
"""
MINE = """\
import json, sys
given = json.load(sys.stdin)
print(json.dumps({"decision": "deny", "reason": given["arguments"]["path"]}))
"""


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("TARK_SANDBOX", "auto")
    (tmp_path / "mine.py").write_text(MINE)
    mine = ["-S", str(tmp_path / "mine.py")]
    hook = f'[[hooks]]\nname = "mine"\non = "beforeTool"\ncommand = "/usr/bin/python3"\nargs = {json.dumps(mine)}\n'
    desk = Desk(tmp_path, monkeypatch, config=f"workspaceTrusted = true\n{hook}sandbox = false\n")
    if not await Sandbox(Places(tmp_path, tmp_path / "caches", tmp_path / "state"), [desk.folder]).check():
        await desk.stop()
        pytest.skip("no sandbox works here")
    (desk.folder / ".tark").mkdir()
    (desk.folder / ".tark" / "hooks.toml").write_text(OFFER)
    (desk.folder / "rewrite.py").write_text(REWRITES)
    yield desk
    await desk.stop()


async def refused(desk: Desk) -> str:
    """What your own hook saw of the call."""
    turn = await desk.start("list src")
    end = await desk.end(turn)
    messages = desk.app.parts.sessions.rows.read_session(end["sessionId"]).messages
    told = json.dumps([str(part) for message in messages for part in message.parts])
    return told.split("the hook mine refused it: ", 1)[1].split('"', 1)[0].rstrip("\\")


async def test_your_hooks_see_what_those_of_a_project_left(desk: Desk) -> None:
    assert await refused(desk) == "src"  # it is not approved
    (hook,) = read_offers([desk.folder]).hooks
    approve(hook, resolve_hook(hook, [desk.folder]).digest, (), PinStore(hook_pins_folder), time.time())
    assert await refused(desk) == "elsewhere"
    (desk.folder / "rewrite.py").write_text(REWRITES + "# changed\n")
    assert await refused(desk) == "src"
