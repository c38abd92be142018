"""Random commands on random trees, what the user does since, and undo: it is exact, and no typed text is lost."""

import os
import random
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.exhaustive import seeds
from tests.workspace.command_bench import GIT, CommandBench, picture

pytestmark = [pytest.mark.property, pytest.mark.skipif(GIT is None, reason="git is not installed")]
NAMES = ("a.py", "b.txt", "c", "Makefile", "é.md", "with space", "UPPER", "upper", "-dash", "new\nline")
FOLDERS = ("", "src/", "src/deep/", "lib/", "hollow/", "build/")
"""`build` is ignored."""


@dataclass
class Steps:
    """What a command, or the user, does to the tree; each step leaves a tree that can be walked."""

    bench: CommandBench
    chance: random.Random
    mark: str
    touched: set[str]

    def data(self) -> bytes:
        lines = [f"{self.mark} {self.chance.randrange(9)}" for _ in range(self.chance.randrange(6))]
        ending = self.chance.choice(["\n", "\r\n"])
        kinds = [
            "".join(line + ending for line in lines).encode(),
            self.chance.randbytes(20),
            b"",
            "é\n".encode("latin-1"),
        ]
        return self.chance.choice(kinds)

    def any(self, *, folders: bool = False) -> Path | None:
        found = [
            path
            for path in self.bench.root.rglob("*")
            if ".git" not in path.parts
            and "build" not in path.relative_to(self.bench.root).parts
            and (path.is_symlink() or folders or not path.is_dir())
        ]
        return self.chance.choice(sorted(found)) if found else None

    def write(self) -> None:
        path = self.bench.root / self.chance.choice(FOLDERS) / self.chance.choice(NAMES)
        if any(one.is_symlink() or one.is_file() for one in path.parents) or path.is_dir():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        path.write_bytes(self.data())
        self.touched.add(str(path))

    def change(self) -> None:
        path = self.any()
        if path is not None and not path.is_symlink() and path.is_file():
            before = path.read_bytes().split(b"\n")
            before.insert(self.chance.randrange(len(before) + 1), self.mark.encode())
            path.write_bytes(b"\n".join(before))
            self.touched.add(str(path))

    def remove(self) -> None:
        path = self.any()
        if path is not None:
            path.unlink()
            self.touched.add(str(path))

    def link(self) -> None:
        path = self.bench.root / self.chance.choice(NAMES)
        if not os.path.lexists(path):
            path.symlink_to(self.chance.choice(["src", "nowhere", "src/a.py", ".."]))
            self.touched.add(str(path))

    def chmod(self) -> None:
        path = self.any(folders=True)
        if path is not None and not path.is_symlink():
            path.chmod(self.chance.choice([0o700, 0o755] if path.is_dir() else [0o644, 0o755, 0o600, 0o444]))
            self.touched.add(str(path))

    def move(self) -> None:
        path = self.any(folders=True)
        target = self.bench.root / self.chance.choice(["", "src/"]) / self.chance.choice(NAMES)
        if path is None or os.path.lexists(target) or not target.parent.is_dir() or target.is_relative_to(path):
            return
        if target.parent.is_symlink():
            return
        self.touched |= {str(path), *map(str, path.rglob("*"))}
        path.rename(target)
        self.touched |= {str(target), *map(str, target.rglob("*"))}

    def folder(self) -> None:
        path = self.bench.root / "hollow" / self.chance.choice("xyz")
        if path.parent.is_dir() and not path.parent.is_symlink() and not os.path.lexists(path):
            path.mkdir()
            self.touched.add(str(path))

    def make(self, count: int) -> None:
        steps = [self.write] * 3 + [self.change] * 3 + [self.remove] * 2
        steps += [self.link, self.chmod, self.move, self.folder]
        for _ in range(count):
            self.chance.choice(steps)()


def start(tmp_path: Path, chance: random.Random) -> CommandBench:
    bench = CommandBench(tmp_path.resolve() / "project", tmp_path.resolve() / "state")
    bench.write(".gitignore", "build/\n")
    first = Steps(bench, chance, "mine", set())
    first.make(25)
    if chance.random() < 0.8:
        bench.git("init", "-q")
        bench.git("add", "-A")
        bench.git("commit", "-qm", "one", "--allow-empty")
        if chance.random() < 0.5:
            bench.git("gc", "-q")
        first.make(6)
    return bench


def seen(bench: CommandBench) -> dict[str, tuple[object, ...]]:
    return {path: what for path, what in picture(bench.root).items() if "/build" not in path}


@pytest.mark.parametrize("seed", seeds(25))
async def test_undo_and_redo_are_exact(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    bench = start(tmp_path, chance)
    before = seen(bench)
    for number in range(chance.choice([1, 1, 2, 3])):
        steps = Steps(bench, chance, f"command {number}", set())
        await bench.run("true", lambda steps=steps: steps.make(chance.randrange(1, 15)))  # type: ignore[misc]  # bound now
    after = seen(bench)
    for _ in range(2):
        assert (await bench.undo()).kept == ()
        assert seen(bench) == before
        assert (await bench.redo()).kept == ()
        assert seen(bench) == after
        bench.restart()


@pytest.mark.parametrize("seed", seeds(25))
async def test_what_the_user_typed_is_not_lost(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    bench = start(tmp_path, chance)
    before = seen(bench)
    await bench.run("true", lambda: Steps(bench, chance, "command", set()).make(chance.randrange(1, 12)))
    user = Steps(bench, chance, f"typed-{seed}", set())
    user.make(chance.randrange(1, 6))
    typed = _lines_with(bench, f"typed-{seed}")
    undone = await bench.undo()
    kept = {str(path) for path, _ in undone.kept}
    assert _lines_with(bench, f"typed-{seed}") == typed, undone
    touched = {path for path in before if any(path == one or path.startswith(f"{one}/") for one in user.touched)}
    hindered = {
        path for path in before if any(one.startswith(f"{path}/") or path.startswith(f"{one}/") for one in kept)
    }
    now = seen(bench)
    for path, what in before.items():
        if path not in touched | kept | hindered and what[0] != "folder":
            assert now.get(path) == what, (path, undone)


def _lines_with(bench: CommandBench, mark: str) -> int:
    """How many lines the user's text has in all files."""
    files = [path for path in bench.root.rglob("*") if ".git" not in path.parts and _is_file(path)]
    return sum(path.read_bytes().count(mark.encode()) for path in files)


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)
