"""Fifty steps of an agent in one turn, kill -9 of the server, a new one on the same state folder: undo restores all.

The person types below a line while the agent works above it; what they typed is all that is left of the two.
"""

import asyncio
import json
import random
import stat
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.workspace.disk.folder import TEMPORARY
from tark_lsp.workspace.disk.opening import open_folder
from tests.editors.behaviour import HONEST, Profile
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SERVER, environment
from tests.editors.question import Question

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

STEPS = 50
PLAIN = Profile(
    "neovim",
    "Neovim",
    "0.11.0",
    HONEST,
    without=("workspace.workspaceEdit.resourceOperations",),
)
"""Moves and deletes no files for us, so those are closed ones here; tests/workspace has it with open ones, too."""
BEYOND = "# beyond this line the person works\n"
MARK = b"\xef\xbb\xbf"


@dataclass
class Plan:
    """The calls of an agent, and what the files hold above the line after each; `fresh` are those it made."""

    chance: random.Random
    files: dict[str, list[str]]
    closed: set[str]
    fresh: set[str] = field(default_factory=set)
    calls: list[Json] = field(default_factory=list)
    made: int = 0

    def step(self) -> None:
        self.made += 1
        kinds = [self.edit] * 6 + [self.move] * 2 + [self.create]
        if len(self.closed) > 3:
            kinds.append(self.delete)
        self.chance.choice(kinds)()

    def call(self, name: str, **arguments: Any) -> None:
        self.calls.append({"name": name, "arguments": arguments})

    def edit(self) -> None:
        name = self.chance.choice([name for name, lines in self.files.items() if lines])
        lines = self.files[name]
        at = self.chance.randrange(len(lines))
        old = lines[at]
        new = [f"step {self.made} line {number}" for number in range(self.chance.choice([1, 1, 1, 2, 3]))]
        lines[at : at + 1] = new
        self.call("edit_file", path=name, old_text=old + "\n", new_text="".join(f"{line}\n" for line in new))

    def move(self) -> None:
        name = self.chance.choice(sorted(self.closed))
        target = f"{self.chance.choice(['', 'src/', 'deep/er/'])}moved_{self.made}.py"
        self.call("move_file", source=name, target=target)
        self.files[target] = self.files.pop(name)
        for some in (self.closed, self.fresh):
            if name in some:
                some.remove(name)
                some.add(target)

    def create(self) -> None:
        name = f"made_{self.made}.py"
        self.files[name] = [f"made in step {self.made}", f"more of step {self.made}"]
        self.closed.add(name)
        self.fresh.add(name)
        self.call("write_file", path=name, content="".join(f"{line}\n" for line in self.files[name]))

    def delete(self) -> None:
        name = self.chance.choice(sorted(self.closed))
        self.call("delete_file", path=name)
        del self.files[name]
        self.closed.remove(name)


def write_home(home: Path, plan: list[Json]) -> None:
    """A model that makes one call after another."""
    folder = home / "config" / "tark"
    folder.mkdir(parents=True)
    calls = [
        f"[[reply]]\ntimes = 1\ncalls = [{{ name = {json.dumps(call['name'])}, "
        f"arguments_json = {json.dumps(json.dumps(call['arguments']))} }}]\n"
        for call in plan
    ]
    scenario = home / "scenario.toml"
    scenario.write_text("".join(['wire = "anthropic-messages"\n', *calls, '[[reply]]\ntext = "All done."\n']))
    (folder / "config.toml").write_text(
        f"model = \"scripted/kill\"\n[limits]\nturnRequests = 99\n[providers.scripted]\nscenario = '{scenario}'\n"
    )


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """But for what a kill leaves between writing a new file and renaming it: it goes with the next write beside it."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file() and not fnmatch(path.name, TEMPORARY)
    }


def start_files(folder: Path) -> dict[str, list[str]]:
    """Ten, of different kinds; what the agent may change in each."""
    files = {}
    for number in range(10):
        name, count = f"file_{number}.py", 0 if number == 9 else 8
        files[name] = [f"file {number} line {line}" for line in range(count)]
        text = "".join(f"{line}\n" for line in files[name]) + (BEYOND + "theirs" if count else "")
        (folder / name).write_bytes((MARK if number in (4, 5) else b"") + text.encode())
        (folder / name).chmod((0o644, 0o755, 0o600)[number % 3])
    (folder / "latin-1.txt").write_bytes("über\r\n".encode("latin-1"))
    (folder / "dos.txt").write_bytes(b"one\r\ntwo")
    return files


async def open_on(folder: Path, home: Path) -> MemoryEditor:
    editor = MemoryEditor(PLAIN, frozenset({"permission", "updates"}))
    await editor.start(SERVER, folder=folder, env=environment(home))
    return editor


@pytest.mark.parametrize(
    ("seed", "last"),
    [
        pytest.param(1, None, id="at the end"),
        pytest.param(2, 15, id="amid 15"),
        pytest.param(3, 20, id="amid 20", marks=pytest.mark.exhaustive),
        pytest.param(4, 25, id="amid 25", marks=pytest.mark.exhaustive),
    ],
)
async def test_undo_by_another_server(tmp_path: Path, seed: int, last: int | None) -> None:
    """`last`: killed some time after the answer to so many questions."""
    folder, home = tmp_path.resolve() / "workspace", tmp_path.resolve() / "home"
    folder.mkdir()
    files = start_files(folder)
    opened = [f"file_{number}.py" for number in range(4)]
    plan = Plan(random.Random(seed), {name: list(lines) for name, lines in files.items()}, set(files) - set(opened))
    for _ in range(STEPS):
        plan.step()
    write_home(home, plan.calls)
    before = tree(folder)

    editor = await open_on(folder, home)
    uris = [editor.open(folder / name) for name in opened]
    typed = dict.fromkeys(uris, "")

    def policy(question: Question) -> None:
        """Says yes, having typed at the end of a document."""
        uri = plan.chance.choice(uris)
        document = editor.documents[uri]
        end = document.position(len(document.text))
        words = f"\ntyped {len(editor.questions)}"
        typed[uri] += words
        editor.type(uri, end["line"], end["character"], words)
        question.allow()
        if len(editor.questions) == last:
            asyncio.get_running_loop().call_later(plan.chance.random() * 0.1, editor.connection._process.kill)

    editor.policy = policy
    turn = await editor.turn("do it")
    if last is None:
        end = await editor.end(turn, 120)
        assert end["text"] == "All done.", end
        done = [update for update in editor.updates(turn, "toolCall") if update["status"] == "completed"]
        assert len(done) == STEPS, editor.connection.transcript()
        editor.connection._process.kill()
    await editor.connection.exited(120)
    await editor.connection.stop()
    for uri in uris:  # saved, so that the next server's editor opens it so
        (folder / Path(uri).name).write_bytes(editor.text(uri).encode())
    assert tree(folder) != before

    other = await open_on(folder, home)
    for name in opened[:2]:
        other.open(folder / name)
    undone = await other.command("tark.turn.undo", {"turnId": turn})
    assert undone["kept"] == []
    for uri in other.documents:
        (folder / Path(uri).name).write_bytes(other.text(uri).encode())
    expected = dict(before)
    for uri, words in typed.items():
        data, mode = before[Path(uri).name]
        expected[Path(uri).name] = data + words.encode(), mode
    assert tree(folder) == expected
    for left in folder.rglob(TEMPORARY):
        open_folder(folder).create(left.relative_to(folder).with_name("next"), b"", lambda: True)
        left.with_name("next").unlink()
    assert list(folder.rglob(TEMPORARY)) == []
    assert await other.command("tark.turn.undo", {"turnId": turn}) == {"restored": [], "kept": []}
    assert tree(folder) == expected
    assert await other.close() == 0
    await other.connection.stop()
