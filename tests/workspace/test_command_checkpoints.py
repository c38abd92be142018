"""Undo and redo of what commands changed: byte for byte, with modes, links and folders; and what the user did since."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.workspace.checkpoints.commands import survey
from tark_lsp.workspace.checkpoints.commands.survey import CannotCheckpoint
from tark_lsp.workspace.checkpoints.history_inverse import NOT_OURS
from tark_lsp.workspace.checkpoints.turn_undo import DELETED, TAKEN, UndoResult
from tests.workspace.command_bench import GIT, TURN, CommandBench, picture

pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")
AWAY = "find . -mindepth 1 ! -path ./.git ! -path './.git/*' -delete"
NOTHING = UndoResult((), ())


@pytest.fixture
def bench(tmp_path: Path) -> CommandBench:
    return CommandBench(tmp_path.resolve() / "project", tmp_path.resolve() / "state")


@pytest.fixture
def repository(bench: CommandBench) -> CommandBench:
    """Tracked, changed, untracked, staged and ignored files of many kinds."""
    bench.write(".gitignore", "ignored/\n*.log\n")
    bench.write(".gitattributes", "*.crlf text eol=crlf\n")
    for number in range(20):
        bench.write(f"src/p{number % 3}/m{number}.py", "x = 1\n" * number, 0o644 if number % 2 else 0o755)
    bench.write("dos.crlf", "a\r\nb\r\n")
    bench.write("latin-1.txt", "über\n".encode("latin-1"))
    bench.write("binary", bytes(range(256)) * 50)
    bench.write("empty")
    bench.write("forced.log", "tracked although it is ignored\n")
    (bench.root / "link").symlink_to("src/p0")
    (bench.root / "dangling").symlink_to("nowhere/at all")
    bench.git("init", "-q")
    bench.git("add", "-A")
    bench.git("add", "-f", "forced.log")
    bench.git("commit", "-qm", "one")
    bench.git("gc", "-q")
    bench.write("src/p1/m1.py", "changed\n")
    bench.write("staged.py", "staged\n")
    bench.git("add", "staged.py")
    bench.write("new/deep/untracked.txt", "mine\n", 0o600)
    bench.write("BOM.txt", b"\xef\xbb\xbfmarked\r\n", 0o444)
    bench.write(".hidden", "hidden\n")
    bench.write(".ignore", "searches.txt\n")
    bench.write("searches.txt", "only ripgrep ignores it\n")
    bench.write("ignored/out.o", "an output\n")
    bench.write("x.log", "an output\n")
    (bench.root / os.fsdecode(b"not utf-8 \xff")).write_bytes(b"odd name")
    (bench.root / "hollow/inner").mkdir(parents=True)
    (bench.root / "hollow").chmod(0o750)
    return bench


async def test_everything_deleted_comes_back(repository: CommandBench) -> None:
    before = picture(repository.root)
    await repository.run(AWAY)
    gone = picture(repository.root)
    assert gone == {}
    undone = await repository.undo()
    assert undone.kept == ()
    after = picture(repository.root)
    ignored = {path for path in before if "/ignored" in path or path.endswith("x.log")}
    assert after == {path: what for path, what in before.items() if path not in ignored}
    assert await repository.undo() == replace(NOTHING, commands=True)
    assert (await repository.redo()).kept == ()
    assert picture(repository.root) == gone
    assert (await repository.undo()).kept == ()
    assert picture(repository.root) == after


async def test_only_what_git_cannot_restore_is_copied(repository: CommandBench) -> None:
    copies = await repository.copied()
    assert b"mine\n" in copies
    assert b"changed\n" in copies
    assert b"a\r\nb\r\n" in copies  # the blob has other bytes than the file
    assert b"staged\n" not in copies
    assert bytes(range(256)) * 50 not in copies
    assert b"an output\n" not in copies
    assert len(copies) < 12


async def test_after_kill_9(repository: CommandBench) -> None:
    before = {path: what for path, what in picture(repository.root).items() if "/ignored" not in path}
    del before[str(repository.root / "x.log")]
    running = await repository.commands.begin(TURN, repository.folders)
    await repository.shell(f"{AWAY}; echo y >made")
    os.close(running.lock)  # as the end of the process does
    repository.restart()
    await repository.commands.recover()
    assert not list((repository.state / "running-commands").iterdir())
    assert (await repository.undo()).kept == ()
    assert picture(repository.root) == before


async def test_a_server_that_lives_is_left_alone(repository: CommandBench) -> None:
    running = await repository.commands.begin(TURN, repository.folders)
    repository.write("made", "x")
    other = CommandBench(repository.root, repository.state)
    await other.commands.recover()
    assert await other.undo() == NOTHING
    assert [change.path.name for change in await repository.commands.finish(running)] == ["made"]


EXACT = [
    "mv src lib && ln -s lib src",
    "rm -r src && echo file >src",
    "rm dos.crlf && mkdir dos.crlf && echo x >dos.crlf/y",
    "chmod -R a-w,a-x src; chmod 000 src/p0 binary; chmod 777 hollow",
    "sed -i s/x/y/ src/*/*.py; printf '\\xef\\xbb\\xbf' >empty; printf 'a\\nb\\n' >dos.crlf",
    "iconv -f latin1 latin-1.txt >new/utf-8.txt; mv new/utf-8.txt latin-1.txt",
    "ln -sfn elsewhere link; rm dangling; ln -s new more; mv binary BINARY",
    "echo '*' >.gitignore; rm -rf src new .hidden; true",
    "mkdir -p hollow/inner/x/y; rmdir hollow/inner/x/y hollow/inner/x; ln src/p0/m0.py hard",
    "truncate -s 0 binary; cat src/*/*.py >>binary; touch src/p0/m3.py; mkfifo pipe; rm pipe",
]


@pytest.mark.parametrize("script", EXACT)
async def test_undo_is_exact(repository: CommandBench, script: str) -> None:
    before = picture(repository.root)
    await repository.run(script)
    undone = await repository.undo()
    assert undone.kept == ()
    assert picture(repository.root) == before


@pytest.mark.parametrize("script", EXACT)
async def test_redo_is_exact(repository: CommandBench, script: str) -> None:
    before = picture(repository.root)
    await repository.run(script)
    after = picture(repository.root)
    await repository.undo()
    redone = await repository.redo()
    assert redone.kept == ()
    assert picture(repository.root) == after
    await repository.undo()
    assert picture(repository.root) == before


async def test_two_commands_and_edits_in_one_turn(repository: CommandBench) -> None:
    before = picture(repository.root)
    workspace, path = repository.workspace, repository.root / "src/p1/m4.py"

    async def edit(old: str, new: str) -> None:
        current = workspace.read(path)
        from tark_lsp.workspace.edits import ProposedEdit

        whole = ProposedEdit.between(current, current.text.replace(old, new))
        number = repository.checkpoints.record_edit(TURN, path, current.text, whole.after)
        repository.checkpoints.settle_change(number, await workspace.apply(whole, "x"))

    await edit("x = 1\n", "y = 2\n")
    await repository.run("sed -i s/2/3/ src/p1/m4.py; rm src/p0/m0.py; echo one >made")
    await edit("y = 3\n", "z = 4\n")
    await repository.run("echo two >>made; mv src/p1/m4.py src/p1/moved.py")
    undone = await repository.undo()
    assert undone.kept == ()
    assert picture(repository.root) == before
    assert (await repository.redo()).kept == ()
    assert (repository.root / "src/p1/moved.py").read_text() == "z = 4\n" * 4
    assert (repository.root / "made").read_text() == "one\ntwo\n"
    assert (await repository.undo()).kept == ()
    assert picture(repository.root) == before


async def test_what_the_user_did_since_stays(repository: CommandBench) -> None:
    repository.write("text.py", "".join(f"line {number}\n" for number in range(20)))
    await repository.run(
        "sed -i 's/line 3$/three/; s/line 15/fifteen/' text.py; echo made >made; rm empty binary; echo 1 >BOM2"
    )
    text = repository.root / "text.py"
    text.write_text(text.read_text().replace("line 8\n", "line 8\nmine\n").replace("fifteen", "fifteen, mine"))
    repository.write("made", "made\nand mine\n")
    repository.write("empty", "mine")
    (repository.root / "BOM2").unlink()
    undone = await repository.undo()
    lines = text.read_text().splitlines()
    assert lines[3] == "line 3"
    assert "mine" in lines
    assert "fifteen, mine" in lines
    assert dict(undone.kept) == {
        text: "1 of 2 changes were changed again since",
        repository.root / "made": NOT_OURS,
        repository.root / "empty": TAKEN,
    }
    assert (repository.root / "binary").read_bytes() == bytes(range(256)) * 50
    assert (repository.root / "made").read_text() == "made\nand mine\n"
    assert (repository.root / "empty").read_text() == "mine"


async def test_what_others_write_while_it_runs_is_theirs(repository: CommandBench) -> None:
    path = repository.root / "src/p1/m4.py"

    def save() -> None:
        path.write_text("typed while it ran\n")
        repository.commands.note_written(path)

    changes = await repository.run("echo x >made", save)
    assert [change.path.name for change in changes] == ["made"]
    await repository.undo()
    assert path.read_text() == "typed while it ran\n"


async def test_open_documents(repository: CommandBench) -> None:
    """One that the editor has read again, one that it has not, one with unsaved changes, and a deleted one."""
    names = ["src/p1/m4.py", "src/p1/m7.py", "src/p1/m10.py", "src/p1/m13.py"]
    fresh, stale, typed, gone = (repository.root / name for name in names)
    before = {path: path.read_text() for path in (fresh, stale, typed, gone)}
    for path in before:
        repository.buffers.open(path)
    await repository.run(f"sed -i 1s/1/2/ {' '.join(names[:3])}; rm {names[3]}")
    repository.buffers.type(fresh, fresh.read_text())
    repository.buffers.type(typed, typed.read_text() + "mine\n")
    undone = await repository.undo()
    assert undone.kept == ()
    texts = {path: snapshot.text for path, snapshot in repository.buffers.documents.items()}
    assert texts == {**before, typed: before[typed] + "mine\n"}
    assert [stale.read_text(), gone.read_text()] == [before[stale], before[gone]]
    assert {edit.path for edit, _ in repository.buffers.applied} == {fresh, typed}


async def test_too_much_to_copy(repository: CommandBench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await repository.commands.why_not(repository.folders) == ""
    with (repository.root / "huge").open("wb") as file:
        file.truncate(survey.MOST_BYTES)
    why = await repository.commands.why_not(repository.folders)
    assert why == "its folders have 200 MB of files that Git cannot restore"
    with pytest.raises(CannotCheckpoint):
        await repository.run("true")
    (repository.root / "huge").unlink()
    assert await repository.commands.why_not(repository.folders) == why  # so that the next call asks
    assert await repository.commands.why_not(repository.folders) == ""
    monkeypatch.setattr(survey, "MOST_FILES", 10)
    assert "more than 10 files" in await repository.commands.why_not(repository.folders)


async def test_a_repository_whose_objects_a_command_can_write_to_restores_nothing(bench: CommandBench) -> None:
    bench.write("a", "one\n")
    bench.git("init", "-q", "--separate-git-dir", str(bench.root / "store"))
    bench.git("add", "a")
    assert b"one\n" in await bench.copied()
    running = await bench.commands.begin(TURN, bench.folders, [bench.root / ".git"])
    await bench.commands.finish(running)


async def test_a_grant_to_write_to_git(repository: CommandBench) -> None:
    await repository.run("true")
    await repository.commands.finish(
        await repository.commands.begin(TURN, repository.folders, [repository.root / ".git"])
    )
    assert bytes(range(256)) * 50 in {path.read_bytes() for path in (repository.state / "checkpoint-copies").glob("*")}


async def test_nested_repositories_submodules_and_worktrees(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    bench = CommandBench(top / "outer/inside", top / "state", [top / "outer/inside", top / "tree"])
    other = CommandBench(top / "other", top / "state2")
    other.write("a", "in a submodule\n")
    other.git("init", "-q")
    other.git("add", "-A")
    other.git("commit", "-qm", "one")
    bench.git("init", "-q", cwd=top / "outer")
    bench.write("tracked", "by the repository above\n")
    bench.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "sub")
    bench.git("add", "-A", cwd=top / "outer")
    bench.git("commit", "-qm", "one", cwd=top / "outer")
    (top / "tree").rmdir()
    bench.git("worktree", "add", "-q", str(top / "tree"))
    bench.write("nested/b", "nested\n")
    bench.git("init", "-q", cwd=bench.root / "nested")
    bench.git("add", "b", cwd=bench.root / "nested")
    before = picture(*bench.folders)
    assert await bench.copied() == set()
    await bench.run(f"rm -rf tracked sub/a nested/b; rm -rf {top}/tree/inside; echo x >{top}/tree/new")
    assert (await bench.undo()).kept == ()
    assert picture(*bench.folders) == before


async def test_without_git(bench: CommandBench) -> None:
    bench.write("a/b", "one\n")
    bench.write(".gitignore", "c\n")
    bench.write("c", "two\n")
    before = picture(bench.root)
    assert await bench.copied() == {b"one\n", b"c\n"}
    await bench.run("rm -r a; echo x >d")
    assert (await bench.undo()).kept == ()
    assert picture(bench.root) == before


async def test_undo_writes_nothing_behind_a_link(repository: CommandBench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    await repository.run("rm -r src/p1")
    (repository.root / "src/p1").symlink_to(outside)  # by the user, since
    undone = await repository.undo()
    assert list(outside.iterdir()) == []
    assert {reason for path, reason in undone.kept if path.parent.name == "p1"} != set()
    assert (repository.root / "src/p1").readlink() == outside


async def test_a_deleted_file_that_was_changed_is_said(repository: CommandBench) -> None:
    await repository.run("sed -i s/x/y/ src/p1/m4.py")
    (repository.root / "src/p1/m4.py").unlink()
    assert (await repository.undo()).kept == ((repository.root / "src/p1/m4.py", DELETED),)


async def test_a_preview_changes_nothing(repository: CommandBench) -> None:
    await repository.run("rm -r src; echo x >made; sed -i s/mine/theirs/ new/deep/untracked.txt; rm binary link")
    after = picture(repository.root)
    foreseen = await repository.checkpoints.preview_undo([TURN], repository.workspace)
    assert picture(repository.root) == after
    undone = await repository.undo()
    assert set(foreseen.undone.restored) == set(undone.restored)
    assert "-theirs\n+mine\n" in "".join(edit.diff() for edit in foreseen.edits)
