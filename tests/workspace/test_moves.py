"""Files that are moved, removed and restored: nothing is overwritten or lost, no matter who interferes."""

import errno
import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tark_lsp.workspace.disk import renaming
from tark_lsp.workspace.disk.file_errors import file_error
from tark_lsp.workspace.disk.openat import DIRECTORY
from tark_lsp.workspace.disk.renaming import rename_no_replace
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tests.memory import MemoryBuffers

OTHER_FILE_SYSTEM = Path("/dev/shm")
BYTES = "\ufeffold\r\nüml\u00e4ut\n".encode()


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def written(path: Path, data: bytes = BYTES, mode: int = 0o640) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


@contextmanager
def small_files() -> Iterator[None]:
    """Files cannot grow beyond a few bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# --- renaming ---

Rename = Callable[[int, str, int, str], None]
WAYS: dict[str, Rename] = {
    "whichever there is": rename_no_replace,
    "by a link": renaming._by_link,
    "by a look": renaming._by_check,
}


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def rename(request: pytest.FixtureRequest) -> Rename:
    way: Rename = request.param
    return way


@pytest.fixture
def handles(folder: Path) -> Iterator[tuple[int, int]]:
    (folder / "in").mkdir()
    opened = os.open(folder, DIRECTORY), os.open(folder / "in", DIRECTORY)
    yield opened
    for descriptor in opened:
        os.close(descriptor)


def test_renamed(rename: Rename, handles: tuple[int, int], folder: Path) -> None:
    inode = written(folder / "a.py").stat().st_ino
    rename(handles[0], "a.py", handles[1], "b.py")
    assert tree(folder) == ["in/b.py"]
    assert (folder / "in/b.py").stat().st_ino == inode


def file(path: Path) -> None:
    path.write_text("mine")


def link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


def directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [file, link_to_nothing, directory])
def test_not_renamed_over_anything(
    rename: Rename, handles: tuple[int, int], folder: Path, make: Callable[[Path], None]
) -> None:
    written(folder / "a.py")
    make(folder / "in/b.py")
    with pytest.raises(FileExistsError):
        rename(handles[0], "a.py", handles[1], "b.py")
    assert (folder / "a.py").read_bytes() == BYTES
    assert not (folder / "in/b.py").is_file() or (folder / "in/b.py").read_text() == "mine"


def test_nothing_to_rename(rename: Rename, handles: tuple[int, int], folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        rename(handles[0], "a.py", handles[1], "b.py")
    assert tree(folder) == []


# --- moving ---


async def test_moved(workspace: Workspace, folder: Path) -> None:
    path, target = written(folder / "a.py"), folder / "src/deep/b.py"
    before = workspace.read(path)
    assert await workspace.move(before, target) == Applied(Snapshot(target, before.text))
    assert tree(folder) == ["src/deep/b.py"]
    assert target.read_bytes() == BYTES
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def rewritten(path: Path, _: Path) -> None:
    path.write_text("mine\n")


def vanished(path: Path, _: Path) -> None:
    path.unlink()


def a_link(path: Path, _: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def a_directory(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


def taken(_: Path, target: Path) -> None:
    written(target, b"mine\n")


def taken_by_a_directory(_: Path, target: Path) -> None:
    target.mkdir(parents=True)


def taken_by_a_link(_: Path, target: Path) -> None:
    target.parent.mkdir()
    target.symlink_to("nowhere")


def folder_is_a_file(_: Path, target: Path) -> None:
    target.parent.write_text("mine\n")


def folder_leads_out(path: Path, target: Path) -> None:
    (path.parent.parent / "elsewhere").mkdir()
    target.parent.symlink_to(path.parent.parent / "elsewhere")


MEDDLED: dict[str, tuple[Callable[[Path, Path], None], tuple[type[Outcome], ...], str]] = {
    "source changed": (rewritten, (Stale,), "changed"),
    "source vanished": (vanished, (Stale,), "no such file"),
    "source is a link": (a_link, (Refused,), "link"),
    "source is a directory": (a_directory, (Refused,), "directory"),
    "target is there": (taken, (Refused,), "something at the new place"),
    "target is a directory": (taken_by_a_directory, (Refused,), "something at the new place"),
    "target is a link": (taken_by_a_link, (Refused,), "something at the new place"),
    "target's folder is a file": (folder_is_a_file, (Stale, Refused), "no such file"),
    "target's folder leads out": (folder_leads_out, (Stale, Refused), ""),
}


@pytest.mark.parametrize(("meddle", "kinds", "words"), MEDDLED.values(), ids=MEDDLED)
async def test_not_moved(
    workspace: Workspace,
    folder: Path,
    meddle: Callable[[Path, Path], None],
    kinds: tuple[type[Outcome], ...],
    words: str,
) -> None:
    path, target = written(folder / "a.py"), folder / "in/b.py"
    before = workspace.read(path)
    meddle(path, target)
    found = {name: (folder / name).read_bytes() for name in tree(folder) if (folder / name).is_file()}
    outcome = await workspace.move(before, target)
    assert isinstance(outcome, kinds)
    assert not isinstance(outcome, Applied)
    assert words in outcome.reason
    assert found == {name: (folder / name).read_bytes() for name in tree(folder) if (folder / name).is_file()}
    assert not (folder.parent / "elsewhere/b.py").exists()


async def test_nowhere_to_move_to(workspace: Workspace, buffers: MemoryBuffers, folder: Path) -> None:
    path = written(folder / "a.py")
    before = workspace.read(path)
    for target in (path, folder.parent / "b.py", folder / "../b.py"):
        assert isinstance(await workspace.move(before, target), Refused)
    buffers.open(folder / "b.py", "not saved yet")
    assert isinstance(await workspace.move(before, folder / "b.py"), Refused)
    assert isinstance(await workspace.move(Snapshot(folder.parent / "c", ""), folder / "c.py"), Refused)
    assert tree(folder) == ["a.py"]


async def test_a_name_in_another_case_never_loses_the_file(workspace: Workspace, folder: Path) -> None:
    """A file system that ignores case can refuse it."""
    path = written(folder / "a.py")
    await workspace.move(workspace.read(path), folder / "A.py")
    assert [path.read_bytes() for path in folder.iterdir()] == [BYTES]


@pytest.mark.parametrize("operates", [True, False], ids=["renames", "does not rename"])
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_the_editor_is_asked_first(
    workspace: Workspace, buffers: MemoryBuffers, folder: Path, operates: bool, is_open: bool
) -> None:
    path, target = written(folder / "a.py", b"text\n"), folder / "b.py"
    buffers.operates = operates
    if is_open:
        buffers.open(path)
    outcome = await workspace.move(workspace.read(path), target)
    if is_open and not operates:
        assert isinstance(outcome, Refused)
        assert "close it" in outcome.reason
        assert tree(folder) == ["a.py"]
    else:
        assert isinstance(outcome, Applied)
        assert outcome.snapshot.path == target
        assert tree(folder) == ["b.py"]
        assert list(buffers.documents) == [target] * is_open


class OpensWhileWriting(MemoryBuffers):
    """The new path is open when this is asked for the third time."""

    looks = 0

    def get(self, path: Path) -> Snapshot | None:
        self.looks += path.name == "b.py"
        if self.looks == 2 and path.name == "b.py":
            self.open(path, "unsaved")
        return super().get(path)


async def test_a_target_opened_meanwhile_stops_the_move(folder: Path) -> None:
    path = written(folder / "a.py")
    workspace = Workspace([folder], OpensWhileWriting())
    assert isinstance(await workspace.move(workspace.read(path), folder / "b.py"), Stale)
    assert tree(folder) == ["a.py"]


# --- to another file system ---


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    if not OTHER_FILE_SYSTEM.is_dir() or OTHER_FILE_SYSTEM.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system here")
    path = OTHER_FILE_SYSTEM / f"tark-{os.getpid()}"
    path.mkdir()
    yield path
    for one_path in sorted(path.rglob("*"), reverse=True):
        one_path.rmdir() if one_path.is_dir() else one_path.unlink()
    path.rmdir()


async def test_moved_to_another_file_system(folder: Path, elsewhere: Path) -> None:
    path, target = written(folder / "a.py"), elsewhere / "in/b.py"
    workspace = Workspace([folder, elsewhere], MemoryBuffers())
    before = workspace.read(path)
    assert await workspace.move(before, target) == Applied(Snapshot(target, before.text))
    assert (tree(folder), tree(elsewhere)) == ([], ["in/b.py"])
    assert target.read_bytes() == BYTES
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


async def test_not_moved_over_anything_on_another_file_system(folder: Path, elsewhere: Path) -> None:
    path, target = written(folder / "a.py"), written(elsewhere / "b.py", b"mine\n")
    workspace = Workspace([folder, elsewhere], MemoryBuffers())
    outcome = await workspace.move(workspace.read(path), target)
    assert outcome == Refused("there is something at the new place already")
    assert (path.read_bytes(), target.read_bytes()) == (BYTES, b"mine\n")
    assert tree(elsewhere) == ["b.py"]


async def test_no_room_on_another_file_system(folder: Path, elsewhere: Path) -> None:
    path = written(folder / "a.py")
    workspace = Workspace([folder, elsewhere], MemoryBuffers())
    before = workspace.read(path)
    with small_files():
        outcome = await workspace.move(before, elsewhere / "b.py")
    assert outcome == Refused("the file: File too large")
    assert path.read_bytes() == BYTES
    assert tree(elsewhere) == []


# --- what the file system refuses ---


async def test_no_room(workspace: Workspace, folder: Path) -> None:
    """A file that cannot be written completely stays as it was, and a new one is not created."""
    path = written(folder / "a.py")
    before = workspace.read(path)
    with small_files():
        outcomes = [
            await workspace.apply(ProposedEdit.between(before, "more than there is room for\n"), "Tark: test"),
            await workspace.restore(folder / "b.py", BYTES, 0o644),
        ]
    assert outcomes == [Refused("the file: File too large")] * 2
    assert path.read_bytes() == BYTES
    assert tree(folder) == ["a.py"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "a.py: the disk is full"),
        (errno.EDQUOT, "a.py: the disk quota is used up"),
        (errno.EROFS, "a.py: the file system is read-only"),
        (errno.EACCES, "a.py: Permission denied"),
    ],
)
def test_it_is_said_why(number: int, words: str) -> None:
    assert file_error(OSError(number, os.strerror(number)), "a.py", writing=True).message == words


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_folder(workspace: Workspace, folder: Path) -> None:
    path = written(folder / "in/a.py")
    before = workspace.read(path)
    path.parent.chmod(0o500)
    try:
        for outcome in (await workspace.move(before, folder / "b.py"), await workspace.remove(before)):
            assert outcome == Refused("the file: Permission denied")
    finally:
        path.parent.chmod(0o700)
    assert tree(folder) == ["in/a.py"]


# --- removing and restoring ---


@pytest.mark.parametrize("operates", [True, False], ids=["deletes", "does not delete"])
async def test_removing_an_open_document(
    workspace: Workspace, buffers: MemoryBuffers, folder: Path, operates: bool
) -> None:
    path = written(folder / "a.py", b"text\n")
    buffers.open(path)
    buffers.operates = operates
    outcome = await workspace.remove(workspace.read(path))
    assert isinstance(outcome, Applied if operates else Refused)
    assert path.exists() is not operates


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o444])
async def test_brought_back(workspace: Workspace, folder: Path, mode: int) -> None:
    path = written(folder / "src/a.py", mode=mode)
    before = workspace.read(path)
    stored = workspace.read_stored(path)
    assert stat.S_IMODE(stored.status.st_mode) == mode
    assert isinstance(await workspace.remove(before), Applied)
    path.parent.rmdir()
    assert await workspace.restore(path, stored.data, stored.status.st_mode) == Applied(before)
    assert path.read_bytes() == BYTES
    assert stat.S_IMODE(path.stat().st_mode) == mode


async def test_not_brought_back_over_anything(workspace: Workspace, buffers: MemoryBuffers, folder: Path) -> None:
    path = written(folder / "a.py", b"mine\n")
    assert isinstance(await workspace.restore(path, BYTES, 0o644), Stale)
    assert path.read_bytes() == b"mine\n"
    buffers.open(folder / "b.py", "unsaved")
    assert isinstance(await workspace.restore(folder / "b.py", BYTES, 0o644), Refused)
    assert tree(folder) == ["a.py"]
