"""Fifty random steps of an agent and a user, then undo: every byte is as if the user had worked alone.

In each file the agent works above a fence and the user below it, so it is clear what belongs to whom.
"""

import random
import stat
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.encoding import MARKED, UTF_8, Encoding, decode
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines
from tests.exhaustive import seeds
from tests.memory import MemoryBuffers
from tests.workspace.turn import Turn

STEPS = 50
FENCE = "----- fence -----"
WORDS = ("", "a", "x = 1", "}", "  a", "é", "same", "same", "\u2028", "\tend ")


@dataclass
class World:
    """`mine`: what each file would contain without the agent, by its path before the turn."""

    folder: Path
    turn: Turn
    chance: random.Random
    mine: dict[Path, tuple[bytes, int]] = field(default_factory=dict)
    origin: dict[Path, Path] = field(default_factory=dict)
    """The files from before the turn, by their current path."""
    created: set[Path] = field(default_factory=set)
    count: int = 0

    def path(self) -> Path:
        """A free path, often one that a file had before."""
        places = [self.folder / f"{folder}{name}" for folder in ("", "src/", "a/b/") for name in "rstuvwxyz"]
        free = [place for place in places if not place.exists()]
        return self.chance.choice(free)

    def lines(self, count: int, ending: str) -> list[str]:
        return [self.chance.choice(WORDS) + ending for _ in range(count)]

    def start(self) -> None:
        """Files of every kind, some of them open in the editor."""
        encodings = [*MARKED, UTF_8, UTF_8, UTF_8]
        for number in range(9):
            ending = self.chance.choice(["\n", "\r\n", "\r"])
            above, below = self.lines(self.chance.randrange(12), ending), self.lines(self.chance.randrange(8), ending)
            text = "".join([*above, FENCE + ending, *below])
            if self.chance.random() < 0.3:
                text = text.rstrip("\r\n")
            encoding = encodings[number % len(encodings)]
            path = self.put(self.path(), encoding.encode(text), self.chance.choice([0o644, 0o600, 0o755, 0o440]))
            self.origin[path] = path
            if self.chance.random() < 0.5:
                self.turn.buffers.open(path, text)
        self.origin[self.put(self.path(), b"", 0o640)] = self.folder
        empty = next(path for path, origin in self.origin.items() if origin == self.folder)
        self.origin[empty] = empty
        self.put(self.folder / "latin-1", "über\n".encode("latin-1"), 0o644)
        self.put(self.folder / "binary", bytes(range(256)), 0o644)
        self.put(self.folder / "notes", b"mine\n", 0o644)

    def put(self, path: Path, data: bytes, mode: int) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
        self.mine[path] = (data, mode)
        return path

    async def step(self) -> None:
        self.count += 1
        there = [*self.origin, *self.created]
        steps = [self.edit] * 5 + [self.move] * 2 + [self.create, self.remove]
        if not there or self.chance.random() < 0.3:
            self.person()
        else:
            await self.chance.choice(steps)()

    async def edit(self) -> None:
        path = self.chance.choice([*self.origin, *self.created])
        if not path.stat().st_mode & stat.S_IWUSR and self.turn.buffers.get(path) is None:
            return  # read-only: it could not
        lines = split_lines(self.turn.workspace.read(path).text)
        fence = next((at for at, line in enumerate(lines) if line.startswith(FENCE)), len(lines))
        for _ in range(self.chance.randrange(1, 4)):
            start = self.chance.randrange(fence + 1)
            end = min(fence, start + self.chance.randrange(3))
            new = self.lines(self.chance.randrange(3), self.chance.choice(["\n", "\r\n"]))
            lines[start:end] = new
            fence += len(new) - (end - start)
        await self.turn.write(path, "".join(lines))

    async def create(self) -> None:
        path = self.path()
        await self.turn.write(path, "".join(self.lines(self.chance.randrange(4), "\n")))
        self.created.add(path)

    async def move(self) -> None:
        path, target = self.chance.choice([*self.origin, *self.created]), self.path()
        await self.turn.move(path, target)
        if path in self.created:
            self.created.remove(path)
            self.created.add(target)
        else:
            self.origin[target] = self.origin.pop(path)

    async def remove(self) -> None:
        path = self.chance.choice([*self.origin, *self.created])
        await self.turn.remove(path)
        self.created.discard(path)
        self.origin.pop(path, None)

    def person(self) -> None:
        """Types below the fence, saves, opens, closes, works in other files."""
        path = self.chance.choice([*self.origin, self.folder])
        match self.chance.choice(["type", "type", "type", "save", "open or close", "own"]):
            case "type" if path != self.folder and self.type(path):
                pass
            case "save":
                self.save()
            case "open or close" if path != self.folder:
                if self.turn.buffers.get(path) is None:
                    self.turn.buffers.open(path, decode(path.read_bytes())[0])
                else:
                    self.save()
                    self.turn.buffers.close(path)
            case _:
                self.put(self.folder / f"own {self.count % 5}", f"mine {self.count}\n".encode(), 0o644)

    def type(self, path: Path) -> bool:
        text = self.turn.workspace.read(path).text
        above, fence, below = text.partition(FENCE)
        ending = next((candidate for candidate in ("\r\n", "\n", "\r") if below.startswith(candidate)), "")
        if not ending:
            return False
        lines = split_lines(below[len(ending) :])
        at = self.chance.randrange(len(lines) + 1)
        if at == len(lines) and lines and not lines[-1].endswith(("\r", "\n")):
            return False
        lines[at:at] = [f"typed {self.count}{ending}"]
        new = fence + ending + "".join(lines)
        self.write(path, above + new)
        data, mode = self.mine[self.origin[path]]
        old, encoding = decode(data)
        self.mine[self.origin[path]] = encoding.encode(old.partition(FENCE)[0] + new), mode
        return True

    def write(self, path: Path, text: str) -> None:
        """As the user: in the editor if it is open."""
        if self.turn.buffers.get(path) is not None:
            self.turn.buffers.type(path, text)
        else:
            encoding = decode(path.read_bytes())[1]
            write_bytes(path, encoding.encode(text))

    def save(self) -> None:
        for path, document in self.turn.buffers.documents.items():
            encoding: Encoding = decode(path.read_bytes())[1]
            write_bytes(path, encoding.encode(document.text))

    def tree(self) -> dict[Path, tuple[bytes, int]]:
        return {
            path: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            for path in self.folder.rglob("*")
            if path.is_file()
        }


def write_bytes(path: Path, data: bytes) -> None:
    """Even if the file is read-only."""
    mode = path.stat().st_mode
    path.chmod(mode | stat.S_IWUSR)
    path.write_bytes(data)
    path.chmod(mode)


@pytest.mark.property
@pytest.mark.parametrize("seed", seeds(24))
async def test_the_person_might_have_worked_alone(folder: Path, tmp_path: Path, seed: int) -> None:
    buffers = MemoryBuffers()
    buffers.operates = True
    workspace = Workspace([folder], buffers)
    failures: list[object] = []

    def checkpoints() -> Checkpoints:
        store = CheckpointStore(lambda: tmp_path / "checkpoints.sqlite3", lambda *problem: failures.append(problem))
        return Checkpoints(store)

    world = World(folder, Turn(workspace, buffers, checkpoints()), random.Random(seed))
    world.start()
    for _ in range(STEPS):
        await world.step()
    if seed % 2:
        world.turn.checkpoints = checkpoints()  # another server
    undone = await world.turn.undo()
    assert undone.kept == ()
    world.save()
    assert world.tree() == world.mine
    assert (await world.turn.undo()).restored == ()
    assert world.tree() == world.mine
    assert failures == []
