"""Paths stay inside, open buffers come first, and a write keeps every byte that it does not change."""

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tark_lsp.errors import FileMissing, FileTooLarge, NotText, OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.closed_files import LARGEST_FILE
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import MARKED, UTF_8, Encoding
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tests.exhaustive import examples
from tests.memory import MemoryBuffers
from tests.patience import HANGS
from tests.workspace.texts import texts


async def change(workspace: Workspace, path: Path, after: str) -> Outcome:
    return await workspace.apply(ProposedEdit.between(workspace.read(path), after), "Tark: test")


async def create(workspace: Workspace, path: Path, text: str) -> Outcome:
    return await workspace.apply(ProposedEdit.between(Snapshot(path, "", exists=False), text), "Tark: test")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- paths ---


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("a.py", "a.py"),
        ("./src/../a.py", "a.py"),
        ("src/new/deep.py", "src/new/deep.py"),
        ("project:a.py", "a.py"),
        ("", ""),
        (".", ""),
        ("link.py", "src/b.py"),
        ("linked/b.py", "src/b.py"),
        ("caf\udce9.py", "caf\udce9.py"),
    ],
)
def test_resolved(workspace: Workspace, folder: Path, path: str, relative: str) -> None:
    (folder / "src").mkdir()
    (folder / "src/b.py").touch()
    (folder / "link.py").symlink_to("src/b.py")
    (folder / "linked").symlink_to(folder / "src")
    assert workspace.resolve(path) == folder / relative
    assert workspace.resolve(os.fspath(folder / path)) == folder / relative or ":" in path
    assert workspace.is_inside(folder / relative)


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../a.py",
        "src/../../a.py",
        "/etc/passwd",
        "project:/etc/passwd",
        "project:../a.py",
        "a\0.py",
        "\ud800.py",
        "out.py",
        "out/passwd",
        "dangling.py",
        "/proc/self/root/etc/passwd",
        "../project-other/a.py",
    ],
)
def test_not_resolved(workspace: Workspace, folder: Path, path: str) -> None:
    (folder.parent / "project-other").mkdir()
    (folder / "out.py").symlink_to("/etc/passwd")
    (folder / "out").symlink_to("/etc")
    (folder / "dangling.py").symlink_to(folder.parent / "nothing")
    with pytest.raises(OutsideWorkspace):
        workspace.resolve(path)


def test_several_folders(tmp_path: Path) -> None:
    folders = [tmp_path.resolve() / name for name in ("a/web", "b/web", "a/web/inner")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / f"{folder.parent.name}.py").write_text(str(folder))
    workspace = Workspace(folders, MemoryBuffers())
    assert workspace.resolve("b.py") == folders[1] / "b.py"  # where there is one
    assert workspace.resolve("new.py") == folders[0] / "new.py"  # else in the first
    assert workspace.resolve("web-2:new.py") == folders[1] / "new.py"
    for path in (folders[1] / "b.py", folders[2] / "web.py"):
        assert workspace.resolve(workspace.display(path)) == path
        assert workspace.read(path).text == str(path.parent)
    assert workspace.display(folders[2] / "web.py") == "inner:web.py"


def test_no_folder() -> None:
    with pytest.raises(OutsideWorkspace, match="no folder"):
        Workspace([], MemoryBuffers()).resolve("a.py")


def test_display(workspace: Workspace, folder: Path) -> None:
    assert workspace.display(folder / "src/a.py") == "src/a.py"
    assert workspace.display(Path("/etc/passwd")) == "/etc/passwd"


def test_protected(workspace: Workspace, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "harmless").symlink_to(".git")
    assert workspace.is_protected(folder / ".GIT/config")
    assert workspace.is_protected(folder / "harmless/config")
    assert workspace.is_protected(workspace.resolve("harmless/config"))
    assert not workspace.is_protected(folder / "a.py")


def test_a_file_that_makes_a_folder_a_repository_is_protected(workspace: Workspace, folder: Path) -> None:
    """Git needs no `.git` for that. `head` is the name of many folders."""
    assert workspace.is_protected(folder / "src/HEAD")
    assert not workspace.is_protected(folder / "src/head")
    assert not workspace.is_protected(folder / "src/HEAD/index.ts")


def test_our_own_folders_are_protected_wherever_they_are(folder: Path) -> None:
    """A workspace can be the user's home, or the folder of their settings."""
    own = folder / "config" / "tark"
    own.mkdir(parents=True)
    (folder / "link").symlink_to(own)
    workspace = Workspace([folder], MemoryBuffers(), [folder / "link"])
    for name in ("config/tark/config.toml", "config/tark/rules/new.md", "link/x.md", "config/tark"):
        assert workspace.is_protected(folder / name)
    assert not workspace.is_protected(folder / "config/tarks")
    assert not Workspace([folder], MemoryBuffers()).is_protected(folder / "config/tark/config.toml")


def test_protected_in_a_folder_inside_another(folder: Path) -> None:
    (folder / ".git").mkdir()
    workspace = Workspace([folder, folder / ".git"], MemoryBuffers())
    assert workspace.is_protected(folder / ".git/config")


# --- reading ---


def test_the_buffer_comes_first(workspace: Workspace, buffers: MemoryBuffers, folder: Path) -> None:
    (folder / "a.py").write_text("disk")
    buffers.open(folder / "a.py", "buffer")
    (folder / "link.py").symlink_to("a.py")
    assert workspace.read(folder / "a.py") == Snapshot(folder / "a.py", "buffer", 1)
    assert workspace.read(folder / "link.py") == Snapshot(folder / "a.py", "buffer", 1)
    assert workspace.read_bytes(folder / "a.py") == b"disk"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def big(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(50_000_000)


def directory(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path)


def below_a_file(path: Path) -> None:
    path.parent.write_bytes(b"")


def nothing(path: Path) -> None:
    assert path.name not in names(path.parent)


def outside(path: Path) -> None:
    path.symlink_to("/etc/passwd")


UNREADABLE: dict[str, tuple[str, Callable[[Path], object], type[WorkspaceError]]] = {
    "missing": ("x", nothing, FileMissing),
    "a file as a folder": ("file/x", below_a_file, FileMissing),
    "a long name": ("x" * 300, nothing, FileMissing),
    "directory": ("x", directory, NotText),
    "FIFO": ("x", fifo, NotText),
    "NUL byte": ("x", lambda path: path.write_bytes(b"a\0b"), NotText),
    "Latin-1": ("x", lambda path: path.write_bytes(b"\xe9"), NotText),
    "50 MB": ("x", big, FileTooLarge),
    "a link out": ("x", outside, OutsideWorkspace),
    "a link to itself": ("x", loop, OutsideWorkspace),
}


@pytest.mark.parametrize(("name", "make", "error"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable(
    workspace: Workspace, folder: Path, name: str, make: Callable[[Path], object], error: type[WorkspaceError]
) -> None:
    make(folder / name)
    with pytest.raises(error) as caught:
        workspace.read(folder / name)
    assert name in caught.value.message or error is OutsideWorkspace


@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/zero", "/"])
def test_outside_is_not_read(workspace: Workspace, path: str) -> None:
    for read in (workspace.read, workspace.read_bytes):
        with pytest.raises(OutsideWorkspace):
            read(Path(path))


def test_dots_are_not_read(workspace: Workspace, folder: Path) -> None:
    (folder.parent / "secret").write_text("secret")
    with pytest.raises(OutsideWorkspace):
        workspace.read(folder / "../secret")


def test_a_big_buffer(workspace: Workspace, buffers: MemoryBuffers, folder: Path) -> None:
    buffers.open(folder / "a.py", "x" * (LARGEST_FILE + 1))
    with pytest.raises(FileTooLarge, match="10 MB"):
        workspace.read(folder / "a.py")


def test_allowed_outside(workspace: Workspace, folder: Path) -> None:
    path = folder.parent / "notes.txt"
    path.write_bytes(b"\xef\xbb\xbfnotes\r\n")
    assert workspace.read_outside(path) == Snapshot(path, "notes\r\n")
    path.unlink()
    path.symlink_to("/etc/passwd")
    with pytest.raises(OutsideWorkspace):
        workspace.read_outside(path)
    with pytest.raises(NotText):
        workspace.read_outside(Path("/dev/zero"))


def test_a_folder_that_was_made_again(workspace: Workspace, folder: Path) -> None:
    (folder / "a.py").write_text("old")
    assert workspace.read(folder / "a.py").text == "old"
    folder.rename(folder.with_name("moved"))
    with pytest.raises(FileMissing):
        workspace.read(folder / "a.py")
    folder.mkdir()
    (folder / "a.py").write_text("new")
    assert workspace.read(folder / "a.py").text == "new"


# --- writing ---


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(60))
@given(texts(), texts(), st.sampled_from([UTF_8, *MARKED]), st.sampled_from([0o644, 0o755, 0o600]))
def test_bytes_outside_the_hunks_are_kept(folder: Path, old: str, new: str, encoding: Encoding, mode: int) -> None:
    path = folder / "a.txt"
    path.write_bytes(encoding.encode(old))
    path.chmod(mode)
    outcome = asyncio.run(change(Workspace([folder], MemoryBuffers()), path, new))
    assert outcome == Applied(Snapshot(path, new))
    assert path.read_bytes() == encoding.encode(new)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert names(folder) == ["a.txt"]


async def test_new_file_in_new_folders(workspace: Workspace, folder: Path) -> None:
    path = workspace.resolve("src/deep/new.py")
    assert await create(workspace, path, "a\r\n") == Applied(Snapshot(path, "a\r\n"))
    assert path.read_bytes() == b"a\r\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert await create(workspace, folder / "empty", "") == Applied(Snapshot(folder / "empty", ""))
    assert names(folder) == ["empty", "src"]


async def test_open_documents_are_the_editors(workspace: Workspace, buffers: MemoryBuffers, folder: Path) -> None:
    (folder / "a.py").write_text("disk\n")
    buffers.open(folder / "a.py", "buffer\n")
    outcome = await change(workspace, folder / "a.py", "after\n")
    assert outcome == Applied(Snapshot(folder / "a.py", "after\n", 2))
    assert (folder / "a.py").read_text() == "disk\n"
    assert [label for _, label in buffers.applied] == ["Tark: test"]


async def test_links_inside_are_written_through(workspace: Workspace, folder: Path) -> None:
    (folder / "b.py").write_text("old\n")
    (folder / "a.py").symlink_to("b.py")
    assert isinstance(await change(workspace, workspace.resolve("a.py"), "new\n"), Applied)
    assert (folder / "a.py").is_symlink()
    assert (folder / "b.py").read_text() == "new\n"


async def test_other_hard_links_are_told_of(workspace: Workspace, folder: Path) -> None:
    (folder / "a.py").write_text("old\n")
    (folder / "b.py").hardlink_to(folder / "a.py")
    outcome = await change(workspace, folder / "a.py", "new\n")
    assert isinstance(outcome, Applied)
    assert "hard link" in outcome.note
    assert (folder / "b.py").read_text() == "old\n"


async def test_attributes_are_kept(workspace: Workspace, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text("old\n")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    assert await change(workspace, path, "new\n") == Applied(Snapshot(path, "new\n"))
    assert os.getxattr(path, "user.note") == b"kept"


class WhileWriting(MemoryBuffers):
    """Does something in the middle of a write, when it is asked whether the document is still closed."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__()
        self.do, self.looks = do, 0

    def get(self, path: Path) -> Snapshot | None:
        self.looks += 1
        if self.looks == 3:
            self.do()
        return super().get(path)


async def test_a_document_opened_meanwhile_stops_the_write(folder: Path) -> None:
    (folder / "a.py").write_text("old\n")
    buffers = WhileWriting(lambda: buffers.open(folder / "a.py"))
    outcome = await change(Workspace([folder], buffers), folder / "a.py", "new\n")
    assert isinstance(outcome, Stale)
    assert (folder / "a.py").read_text() == "old\n"
    assert names(folder) == ["a.py"]


def rewrite(path: Path) -> None:
    path.write_text("mine\n")


def vanish(path: Path) -> None:
    path.unlink()


def to_link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def to_link_out(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def to_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_binary(path: Path) -> None:
    path.write_bytes(b"\0")


CHANGED_MEANWHILE: dict[str, tuple[Callable[[Path], None], type[Outcome]]] = {
    "rewritten": (rewrite, Stale),
    "removed": (vanish, Stale),
    "a link to the same text": (to_link, Refused),
    "a link out": (to_link_out, Refused),
    "a FIFO": (to_fifo, Refused),
    "binary": (to_binary, Refused),
}


@pytest.mark.parametrize(("meddle", "kind"), CHANGED_MEANWHILE.values(), ids=CHANGED_MEANWHILE)
async def test_changed_meanwhile(
    workspace: Workspace, folder: Path, meddle: Callable[[Path], None], kind: type[Outcome]
) -> None:
    path = folder / "a.py"
    path.write_text("old\n")
    edit = ProposedEdit.between(workspace.read(path), "new\n")
    meddle(path)
    outcome = await workspace.apply(edit, "Tark: test")
    assert isinstance(outcome, kind)
    assert not path.is_file() or "new" not in path.read_text(errors="replace")
    assert not [name for name in names(folder) if name.endswith(".tmp")]


async def test_a_new_file_never_overwrites(workspace: Workspace, folder: Path) -> None:
    (folder / "a.py").write_text("mine\n")
    assert isinstance(await create(workspace, folder / "a.py", "new\n"), Stale)
    (folder / "b.py").symlink_to("nowhere")
    assert isinstance(await create(workspace, folder / "b.py", "new\n"), Stale)
    assert (folder / "a.py").read_text() == "mine\n"
    assert names(folder) == ["a.py", "b.py"]


async def test_folders_that_are_links_out_are_not_written(workspace: Workspace, folder: Path) -> None:
    target = folder.parent / "elsewhere"
    target.mkdir()
    edit = ProposedEdit.between(Snapshot(folder / "src/a.py", "", exists=False), "new\n")
    (folder / "src").symlink_to(target)
    assert isinstance(await workspace.apply(edit, "Tark: test"), (Refused, Stale))
    assert names(target) == []


async def test_outside_is_not_written(workspace: Workspace, folder: Path) -> None:
    for path in (folder.parent / "a.py", folder / "../a.py"):
        assert isinstance(await create(workspace, path, "new\n"), Refused)
    assert not (folder.parent / "a.py").exists()


async def test_text_that_cannot_be_written(workspace: Workspace, folder: Path) -> None:
    assert isinstance(await create(workspace, folder / "a.py", "\ud800"), Refused)
    assert names(folder) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_read_only(workspace: Workspace, folder: Path) -> None:
    (folder / "a.py").write_text("old\n")
    (folder / "a.py").chmod(0o444)
    assert await change(workspace, folder / "a.py", "new\n") == Refused("the file is read-only")


async def test_remove(workspace: Workspace, buffers: MemoryBuffers, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text("old\n")
    snapshot = workspace.read(path)
    path.write_text("mine\n")
    assert isinstance(await workspace.remove(snapshot), Stale)
    buffers.open(path)
    assert isinstance(await workspace.remove(workspace.read(path)), Refused)
    buffers.close(path)
    assert await workspace.remove(workspace.read(path)) == Applied(Snapshot(path, "", exists=False))
    assert names(folder) == []


async def test_a_cancelled_write_ends_and_can_be_noted(folder: Path) -> None:
    (folder / "a.py").write_text("old\n")
    noted: list[Outcome] = []

    async def turn() -> None:
        noted.append(await change(Workspace([folder], WhileWriting(lambda: task.cancel())), folder / "a.py", "new\n"))
        await asyncio.sleep(0)
        pytest.fail("the cancel was lost")

    task = asyncio.create_task(turn())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert noted == [Applied(Snapshot(folder / "a.py", "new\n"))]
    assert (folder / "a.py").read_text() == "new\n"


async def test_a_write_that_times_out_says_so(folder: Path) -> None:
    (folder / "a.py").write_text("old\n")

    async def turn() -> None:
        async with asyncio.timeout(None) as limit:
            over = WhileWriting(lambda: limit.reschedule(0))
            await change(Workspace([folder], over), folder / "a.py", "new\n")
            await asyncio.sleep(HANGS)

    with pytest.raises(TimeoutError):
        await turn()
    assert (folder / "a.py").read_text() == "new\n"


async def test_writes_at_once_do_not_mix(workspace: Workspace, folder: Path) -> None:
    (folder / "a.py").write_text("0\n")
    outcomes = await asyncio.gather(*(change(workspace, folder / "a.py", f"{number}\n") for number in range(1, 9)))
    done = [outcome for outcome in outcomes if isinstance(outcome, Applied)]
    assert len(done) == 1
    assert (folder / "a.py").read_text() == done[0].snapshot.text
