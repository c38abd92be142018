"""Undo and redo of several turns in any order, with restores and typing between: every byte is as a model says.

Each turn has lines of its own in every file, and so has the user. So the model knows what each file holds, whatever is
undone: the lines of each turn as they were before it or after it, and all that the user typed.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.files import Workspace
from tests.checkpoints import unexpected
from tests.memory import MemoryBuffers
from tests.workspace.turn import Turn

TURNS = 4
LAST = TURNS - 1
FILES = ("a.py", "b.py", "moved.py")
"""The last turn alone changes the third file, and moves it there: undo does not follow the moves of later turns."""
STEPS = 30


@dataclass
class World:
    folder: Path
    store: Path
    chance: random.Random
    undone: set[int] = field(default_factory=set)
    typed: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in FILES})

    def __post_init__(self) -> None:
        self.buffers = MemoryBuffers()
        self.buffers.operates = True
        self.workspace = Workspace([self.folder], self.buffers)
        self.restart()

    def restart(self) -> None:
        """Another server on the same state folder."""
        self.checkpoints = Checkpoints(CheckpointStore(lambda: self.store, unexpected))

    def text(self, name: str, changed: set[int]) -> str:
        lines = [f"# {name}\n"]
        for turn in [LAST] if name == "moved.py" else range(TURNS):
            lines += [f"turn {turn} begins here\n"]
            lines += [f"line {at} of turn {turn}{' changed' * (turn in changed)}\n" for at in range(turn + 1)]
            lines += [f"added by turn {turn}\n"] * (turn in changed)
            lines += [f"turn {turn} ends here\n"]
        return "".join([*lines, "the user types below\n", *self.typed[name]])

    def place(self, name: str) -> Path:
        return self.folder / ("c.py" if name == "moved.py" and LAST in self.undone else name)

    def expected(self) -> dict[str, bytes]:
        changed = {turn for turn in range(TURNS) if turn not in self.undone}
        files = {self.place(name).name: self.text(name, changed).encode() for name in FILES}
        files |= {f"made_by_{turn}.py": f"turn {turn}\n".encode() for turn in changed}
        return files | {f"unwanted_by_{turn}.py": f"old {turn}\n".encode() for turn in self.undone}

    def tree(self) -> dict[str, bytes]:
        files = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        return files | {path.name: document.text.encode() for path, document in self.buffers.documents.items()}

    async def begin(self) -> None:
        self.undone = set(range(TURNS))
        for name, data in self.expected().items():
            (self.folder / name).write_bytes(data)
        self.buffers.open(self.folder / "a.py", self.text("a.py", set()))
        for number in range(TURNS):
            turn = Turn(self.workspace, self.buffers, self.checkpoints, f"t{number}")
            for name in FILES if number == LAST else FILES[:2]:
                await turn.write(self.place(name), self.text(name, {*range(number + 1)}))
            await turn.write(self.folder / f"made_by_{number}.py", f"turn {number}\n")
            await turn.remove(self.folder / f"unwanted_by_{number}.py")
            if number == LAST:
                await turn.move(self.folder / "c.py", self.folder / "moved.py")
            self.undone.discard(number)

    async def undo(self, turn: int) -> None:
        result = await self.checkpoints.undo(f"t{turn}", self.workspace)
        assert result.kept == ()
        assert bool(result.restored) == (turn not in self.undone)
        self.undone.add(turn)

    async def redo(self, turn: int) -> None:
        result = await self.checkpoints.redo(f"t{turn}", self.workspace)
        assert result.kept == ()
        assert bool(result.restored) == (turn in self.undone)
        self.undone.discard(turn)

    async def restore(self, turn: int) -> None:
        turns = [f"t{number}" for number in range(TURNS - 1, turn - 1, -1)]
        foreseen = await self.checkpoints.preview_undo(turns, self.workspace)
        before, restored = self.tree(), set[Path]()
        for number in range(TURNS - 1, turn - 1, -1):
            restored |= {*(await self.checkpoints.undo(f"t{number}", self.workspace)).restored}
            self.undone.add(number)
        assert foreseen.undone.kept == ()
        assert {*foreseen.undone.restored} == restored
        assert (self.tree() != before) == bool(foreseen.edits)

    def type(self) -> None:
        name = self.chance.choice(FILES)
        self.typed[name].append(f"typed {len(self.typed[name])}\n")
        text = self.text(name, {turn for turn in range(TURNS) if turn not in self.undone})
        if self.buffers.get(self.place(name)) is not None:
            self.buffers.type(self.place(name), text)
        else:
            self.place(name).write_text(text)


@pytest.mark.parametrize("seed", range(12))
async def test_every_byte_is_as_the_model_says(folder: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    world = World(folder, tmp_path / "checkpoints.sqlite3", chance)
    await world.begin()
    assert world.tree() == world.expected()
    for _ in range(STEPS):
        turn = chance.randrange(TURNS)
        match chance.choice(["undo", "undo", "redo", "redo", "type", "type", "restore", "restart"]):
            case "undo":
                await world.undo(turn)
            case "redo":
                await world.redo(turn)
            case "restore":
                await world.restore(turn)
            case "restart":
                world.restart()
            case _:
                world.type()
        assert world.tree() == world.expected()
        assert world.checkpoints.undone_turns(f"t{number}" for number in range(TURNS)) == {
            f"t{number}": "all" for number in world.undone
        }
