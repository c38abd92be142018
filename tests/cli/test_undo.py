"""`tark-lsp undo` as a person runs it: the list, the diff, the question, what comes back and what is kept."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.files import Workspace
from tests.checkpoints import unexpected
from tests.cli.terminal import Terminal, environment, without_terminal
from tests.memory import MemoryBuffers
from tests.workspace.command_bench import TURN, CommandBench, picture
from tests.workspace.turn import Turn

pytestmark = pytest.mark.slow  # each test starts programs

TEN = "".join(f"{number}\n" for number in range(1, 11))
Work = Callable[[Turn, Path], Awaitable[None]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text(TEN)
    (folder / "b.py").write_text(TEN)
    (folder / "c.py").write_text(TEN)
    return folder


def log(home: Path, folder: Path, turn_id: str, title: str, work: Work) -> None:
    """A turn of a server that has ended since."""
    file = home / "state" / "tark" / "checkpoints.sqlite3"
    file.parent.mkdir(parents=True, exist_ok=True)
    checkpoints = Checkpoints(CheckpointStore(lambda: file, unexpected), lambda _: (title, [folder]))
    buffers = MemoryBuffers()
    asyncio.run(_awaited(work(Turn(Workspace([folder], buffers), buffers, checkpoints, turn_id), folder)))


async def _awaited(work: Awaitable[None]) -> None:
    await work


async def edit(turn: Turn, folder: Path) -> None:
    path = folder / "src" / "a.py"
    await turn.write(path, path.read_text().replace("5\n", "five\n"))


async def everything(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "src" / "a.py", TEN.replace("2\n", "two\n"))
    await turn.write(folder / "src" / "new.py", "new\n")
    await turn.move(folder / "b.py", folder / "src" / "b.py")
    await turn.remove(folder / "c.py")


def tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def tark(home: Path, cwd: Path, *arguments: str) -> tuple[int, str]:
    done = without_terminal(["undo", *arguments], cwd, environment(home))
    assert done.stderr == "" or done.returncode == 2
    return done.returncode, done.stdout + done.stderr


def test_listed_here_and_all(tmp_path: Path, folder: Path) -> None:
    other = tmp_path.resolve() / "other"
    (other / "src").mkdir(parents=True)
    (other / "src" / "a.py").write_text(TEN)
    log(tmp_path, folder, "turn-aaa111", "spell\x1b[31m five", edit)
    log(tmp_path, other, "turn-bbb222", "elsewhere", edit)
    log(tmp_path, folder, "turn-ccc333", "everything at once", everything)
    code, out = tark(tmp_path, folder)
    assert code == 0
    lines = out.splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d  turn-ccc333  everything at once", lines[0])
    assert lines[1:5] == [
        "  changed  src/a.py",
        "  created  src/new.py",
        "  moved    b.py to src/b.py",
        "  deleted  c.py",
    ]
    assert "turn-aaa111  spell\\u{1b}[31m five" in lines[5]
    assert len(lines) == 7
    code, out = tark(tmp_path, folder, "--all")
    assert [word for word in out.split() if word.startswith("turn-")] == ["turn-ccc333", "turn-bbb222", "turn-aaa111"]
    assert f"changed  {other / 'src' / 'a.py'}" in out
    assert "turn-ccc333" in tark(tmp_path, folder / "src")[1], "a folder inside counts as well"


def test_nothing_to_list(tmp_path: Path, folder: Path) -> None:
    assert tark(tmp_path, folder) == (0, "no turn changed anything here\n")
    assert tark(tmp_path, folder, "--last")[0] == 1


def test_what_can_be_taken_back_is_listed_if_nothing_else_is(tmp_path: Path, folder: Path) -> None:
    log(tmp_path, folder, "turn-aaa111", "five", edit)
    (folder / "empty").mkdir()
    for arguments, code in (([], 0), (["--last"], 1), (["nonesuch"], 1)):
        found, out = tark(tmp_path, folder / "empty", *arguments)
        assert (found, "these can be taken back in other folders, with --all:" in out) == (code, True), out
        assert "turn-aaa111  five" in out
    assert "these can be taken back:\n" in tark(tmp_path, folder, "nonesuch")[1]
    assert tark(tmp_path, folder, "--last", "--yes")[0] == 0
    assert "turn-aaa111" not in tark(tmp_path, folder, "nonesuch")[1]


def test_a_turn_is_shown_and_taken_back_after_a_question(tmp_path: Path, folder: Path) -> None:
    before = tree(folder)
    log(tmp_path, folder, "turn-ccc333", "everything at once", everything)
    (folder / "src" / "a.py").write_text("mine\n" + (folder / "src" / "a.py").read_text())
    changed = tree(folder)

    def ask(answer: str) -> tuple[int, str]:
        terminal = Terminal(["undo", "ccc"], folder, environment(tmp_path), fresh=answer == "n")
        terminal.see("Take back turn-ccc333? [y]es, [n]o: ")
        terminal.type(answer)
        return terminal.end(), terminal.plain

    assert ask("n")[0] == 1
    assert tree(folder) == changed
    code, shown = ask("y")
    assert code == 0
    for line in (
        "change src/a.py",
        "-two",
        "+2",
        " mine",
        "remove src/new.py",
        "-new",
        "move src/b.py back to b.py",
        "bring back c.py",
        "+10",
        "restored  src/a.py",
        "removed   src/new.py",
        "restored  b.py",
    ):
        assert line in shown.split("\n")
    assert tree(folder) == before | {"src/a.py": "mine\n" + TEN}
    code, out = tark(tmp_path, folder)
    assert "(taken back)" in out
    assert tark(tmp_path, folder, "turn-ccc333", "--yes") == (0, "there is nothing to take back\n")


def test_the_last_turn_without_asking_and_the_one_before(tmp_path: Path, folder: Path) -> None:
    before = tree(folder)
    log(tmp_path, folder, "turn-aaa111", "five", edit)
    log(tmp_path, folder, "turn-ccc333", "all", everything)
    assert tree(folder)["src/a.py"] == TEN.replace("2\n", "two\n"), "the second wrote over the first"
    code, out = tark(tmp_path, folder, "--last", "--yes")
    assert (code, "restored  c.py" in out) == (0, True)
    assert tree(folder)["src/a.py"] == TEN.replace("5\n", "five\n")
    assert tark(tmp_path, folder, "--last", "--yes")[0] == 0
    assert tree(folder) == before
    assert tark(tmp_path, folder, "--last", "--yes")[0] == 1


def test_kept_changes_are_reported_and_tried_again(tmp_path: Path, folder: Path) -> None:
    log(tmp_path, folder, "turn-ccc333", "all", everything)
    (folder / "src" / "new.py").write_text("mine\n")
    (folder / "b.py").write_text("mine\n")
    code, out = tark(tmp_path, folder, "ccc333", "--yes")
    assert code == 1
    assert "restored  c.py" in out
    assert "kept      src/new.py: the agent created it, and it was changed since" in out
    assert "kept      src/b.py: " in out
    assert tree(folder)["b.py"] == tree(folder)["src/new.py"] == "mine\n"
    (folder / "b.py").unlink()
    (folder / "c.py").write_text("mine by now\n")
    code, out = tark(tmp_path, folder, "ccc333", "--yes")
    assert (code, "restored  b.py" in out) == (1, True)
    assert tree(folder) == {"b.py": TEN, "c.py": "mine by now\n", "src/a.py": TEN, "src/new.py": "mine\n"}
    code, out = tark(tmp_path, folder, "ccc333", "--yes")
    assert (code, "there is nothing to take back" in out, "kept      src/new.py" in out) == (1, True, True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["turn-nonesuch"], 1, "no turn 'turn-nonesuch' changed anything here"),
        (["turn-a"], 1, "'turn-a' is the start of several ids"),
        (["turn-aaa111"], 1, "--yes takes it back without asking"),
        (["--last", "turn-aaa111"], 2, "not allowed with"),
        (["--help"], 0, "An editor that has a file open notices"),
    ],
)
def test_usage(tmp_path: Path, folder: Path, arguments: Sequence[str], code: int, words: str) -> None:
    log(tmp_path, folder, "turn-aaa111", "five", edit)
    log(tmp_path, folder, "turn-aaa222", "five", edit)
    before = tree(folder)
    found, out = tark(tmp_path, folder, *arguments)
    assert (found, words in out) == (code, True), out
    assert tree(folder) == before


def test_a_file_that_is_no_database(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "state" / "tark" / "checkpoints.sqlite3"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"junk, and more of it" * 1000)
    code, out = tark(tmp_path, folder)
    assert (code, "the recorded changes cannot be read: file is not a database" in out) == (1, True)
    (aside,) = file.parent.glob("*.damaged-*")
    assert aside.read_bytes().startswith(b"junk")


def test_a_file_changed_twice_is_listed_once(tmp_path: Path, folder: Path) -> None:
    async def twice(turn: Turn, folder: Path) -> None:
        path = folder / "src" / "a.py"
        await turn.write(path, TEN.replace("2\n", "two\n"))
        await turn.write(path, TEN.replace("2\n", "two\n").replace("9\n", "nine\n"))

    log(tmp_path, folder, "turn-ddd444", "twice", twice)
    assert tark(tmp_path, folder)[1].count("changed  src/a.py") == 1
    assert tark(tmp_path, folder, "--last", "--yes")[0] == 0
    assert tark(tmp_path, folder)[1].count("changed  src/a.py") == 1


def test_what_commands_changed(tmp_path: Path, folder: Path) -> None:
    """By a server that was killed amid its second command."""
    bench = CommandBench(folder, tmp_path / "state" / "tark")
    (folder / "binary").write_bytes(bytes(9))
    before = picture(folder)

    async def work() -> None:
        await bench.run("rm -r src; chmod 600 b.py; echo x >made")
        running = await bench.commands.begin(TURN, bench.folders)
        await bench.shell("rm binary c.py")
        os.close(running.lock)

    asyncio.run(work())
    code, said = tark(tmp_path, folder)
    assert (code, "commands" in said, "(taken back)" in said) == (0, True, False)
    code, said = tark(tmp_path, folder, TURN, "--yes")
    assert code == 0
    assert "bring back src/a.py" in said
    assert "remove made" in said
    assert "restore b.py" in said
    assert "restored  binary" in said
    assert "what commands did to files that Git ignores stays" in said
    assert picture(folder) == before
    assert "(taken back)" in tark(tmp_path, folder)[1]


def test_no_question_if_there_is_nothing_to_do(tmp_path: Path, folder: Path) -> None:
    """All its lines were changed since; or what it did is taken back already, and then that is noted."""
    log(tmp_path, folder, "turn-aaa111", "five", edit)
    (folder / "src" / "a.py").write_text(TEN.replace("5\n", "mine\n"))
    code, out = tark(tmp_path, folder, "aaa")
    assert (code, "kept      src/a.py: 1 of 1 changes were changed again since" in out) == (1, True)
    assert "nothing to take back" in out
    (folder / "src" / "a.py").write_text(TEN)
    assert tark(tmp_path, folder, "aaa")[0] == 0
    assert "(taken back)" in tark(tmp_path, folder)[1]
    assert tree(folder)["src/a.py"] == TEN
