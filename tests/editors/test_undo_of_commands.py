"""A command in the sandbox deletes everything; undo brings it back byte for byte, also after kill -9 meanwhile."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from tark_lsp.sandbox.covers import COVERED
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SERVER, environment
from tests.editors.question import Question
from tests.editors.test_redo_after_kill import kill
from tests.editors.test_undo_after_kill import PLAIN
from tests.patience import AT_ONCE
from tests.sandbox.conftest import MISSING
from tests.workspace.command_bench import GIT, picture

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=MISSING or "there is a sandbox"),
    pytest.mark.skipif(GIT is None, reason="git is not installed"),
]
AWAY = "find . -mindepth 1 ! -path ./.git ! -path './.git/*' -delete"
NOTE = "what commands did to files that Git ignores stays"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with tracked, changed, untracked and ignored files."""
    folder = tmp_path.resolve() / "workspace"
    (folder / "src").mkdir(parents=True)
    for number in range(5):
        (folder / f"src/file_{number}.py").write_text(f"file {number}\n" * 9)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / ".gitignore").write_text("build/\n")
    (folder / "link").symlink_to("src")
    git = [str(GIT), "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run([*git, *arguments], check=True, env={"HOME": str(tmp_path)})
    (folder / "src/file_1.py").write_bytes(b"changed\r\n")
    (folder / "mine.bin").write_bytes(bytes(range(256)))
    (folder / "mine.bin").chmod(0o600)
    (folder / "empty/inner").mkdir(parents=True)
    (folder / "build").mkdir()
    (folder / "build/out").write_text("an output\n")
    return folder


async def open_with(folder: Path, home: Path, command: str) -> MemoryEditor:
    """The model calls the command, then ends."""
    config = home / "config" / "tark"
    config.mkdir(parents=True, exist_ok=True)
    arguments = json.dumps(json.dumps({"command": command}))
    scenario = home / "scenario.toml"
    scenario.write_text(
        'wire = "anthropic-messages"\n'
        f'[[reply]]\ntimes = 1\ncalls = [{{ name = "run_command", arguments_json = {arguments} }}]\n'
        '[[reply]]\ntext = "All done."\n'
    )
    (config / "config.toml").write_text(f"model = \"scripted/x\"\n[providers.scripted]\nscenario = '{scenario}'\n")
    editor = MemoryEditor(PLAIN, frozenset({"permission", "updates"}))
    env = environment(home) | {"TARK_SANDBOX": "auto", "XDG_CACHE_HOME": str(home / "cache")}
    await editor.start(SERVER, folder=folder, env=env)
    editor.policy = Question.allow
    return editor


async def appears(path: Path) -> None:
    """The command, which nothing else can be seen of, makes the file last."""
    async with asyncio.timeout(AT_ONCE):
        while not path.exists():  # noqa: ASYNC110  # another process makes it
            await asyncio.sleep(0.02)


async def says(editor: MemoryEditor, words: str) -> None:
    def is_said() -> bool:
        return any(words in message.params["message"] for message in editor.sent("window/showMessage"))

    await editor.connection.until(lambda: is_said() or None, words)


def without_outputs(folder: Path) -> object:
    """Also without the empty folders that the sandbox makes while a command runs."""
    covers = {str(folder / name) for name in COVERED}
    return {path: what for path, what in picture(folder).items() if "/build" not in path and path not in covers}


async def test_find_delete_and_undo(folder: Path, tmp_path: Path) -> None:
    before = without_outputs(folder)
    editor = await open_with(folder, tmp_path / "home", AWAY)
    uri = editor.open(folder / "src/file_2.py")
    turn = await editor.turn("do it")
    end = await editor.end(turn, 120)
    assert picture(folder) == {}
    assert len(end["changedByCommand"]) == 9
    (session,) = (await editor.command("tark.session.list", {}))["sessions"]
    messages = (await editor.command("tark.session.open", {"sessionId": session["sessionId"]}))["messages"]
    back = {"sessionId": session["sessionId"], "messageId": messages[0]["messageId"], "files": True, "preview": True}
    foreseen = await editor.command("tark.session.restore", back)
    assert (len(foreseen["restored"]), foreseen["changedByCommand"], foreseen["note"]) == (9, [], NOTE)
    undone = await editor.command("tark.turn.undo", {"turnId": turn})
    assert (undone["kept"], undone["note"]) == ([], NOTE)
    assert len(undone["restored"]) == 9
    assert without_outputs(folder) == before
    assert editor.text(uri) == "file 2\n" * 9
    assert await editor.command("tark.turn.undo", {"turnId": turn}) == {"restored": [], "kept": [], "note": NOTE}
    redone = await editor.command("tark.turn.redo", {"turnId": turn})
    assert redone["kept"] == []
    assert picture(folder) == {}
    await editor.command("tark.turn.undo", {"turnId": turn})
    assert without_outputs(folder) == before
    assert await editor.close() == 0
    await editor.connection.stop()


async def test_after_kill_9_amid_the_command(folder: Path, tmp_path: Path) -> None:
    before = without_outputs(folder)
    home = tmp_path / "home"
    planted = f"mkdir -p sub/.vscode; {AWAY}; mkdir -p sub/.vscode; echo new >made; echo x >done; sleep 600"
    editor = await open_with(folder, home, planted)
    turn = await editor.turn("do it")
    await appears(folder / "done")
    await kill(editor)
    editor = await open_with(folder, home, "true")
    await says(
        editor, f"new protected paths, which other programs run or obey: {folder}/sub/.vscode. If they are not yours"
    )
    assert not (folder / ".vscode").exists(), "the covers are gone"
    undone = await editor.command("tark.turn.undo", {"turnId": turn})
    assert undone["kept"] == []
    assert without_outputs(folder) == before
    assert not any((home / "state/tark/running-commands").iterdir())
    assert await editor.close() == 0
    await editor.connection.stop()


async def test_a_cancelled_command_is_undone(folder: Path, tmp_path: Path) -> None:
    before = without_outputs(folder)
    editor = await open_with(folder, tmp_path / "home", f"{AWAY}; echo x >done; sleep 600")
    turn = await editor.turn("do it")
    await appears(folder / "done")
    await editor.command("tark.turn.cancel", {"turnId": turn})
    await editor.end(turn, 120)
    assert (await editor.command("tark.turn.undo", {"turnId": turn}))["kept"] == []
    assert without_outputs(folder) == before
    assert await editor.close() == 0
    await editor.connection.stop()
