"""What may happen to a file between an edit's preview and its writing: it is refused with the reason, nothing lost."""

import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Outcome
from tests.memory import MemoryBuffers, MemoryEditor
from tests.tools.conftest import Bench
from tests.tools.edit_rows import tree

TEXT = "one\ntwo\nthree\n"
NOBODY = 65534

CALLS: dict[str, dict[str, Any]] = {
    "edit_file": {"path": "sub/a.py", "old_text": "two", "new_text": "2"},
    "write_file": {"path": "sub/a.py", "content": "new\n"},
    "apply_patch": {"patch": "*** Begin Patch\n*** Update File: sub/a.py\n-two\n+2\n*** End Patch"},
    "move_file": {"source": "sub/a.py", "target": "sub/b.py"},
    "delete_file": {"path": "sub/a.py"},
}


@pytest.fixture
def anybody() -> Iterator[Bench]:
    """A workspace of somebody who is not root, whom the file system refuses nothing."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "project"
        root.mkdir()
        buffers = MemoryBuffers()
        editor = MemoryEditor(buffers)
        bench = Bench(root, buffers, editor, ToolContext(Workspace([root], buffers), editor))
        bench.write("sub/a.py", TEXT)
        bench.write("sub/other.py", TEXT)
        (root.parent / "secret.py").write_text(TEXT)
        was = os.geteuid()
        import_module("concurrent.futures.thread")  # asyncio does so lazily, and not everybody may read root's Python
        if was == 0:
            for path in (root.parent, *root.parent.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield bench
        finally:
            os.seteuid(was)


async def carried_out(bench: Bench, edit: ProposedEdit) -> Outcome:
    if edit.removes:
        return await bench.ctx.workspace.remove(edit.base)
    if edit.target is not None:
        return await bench.ctx.workspace.move(edit.base, edit.target)
    return await bench.ctx.workspace.apply(edit, "Tark: test")


@contextmanager
def full() -> Iterator[None]:
    """No file can grow past some bytes, as on a full disk; Python has the signal ignored, so writing fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def read_only(folder: Path) -> None:
    (folder / "a.py").chmod(0o444)


def in_a_read_only_folder(folder: Path) -> None:
    folder.chmod(0o555)


def changed(folder: Path) -> None:
    (folder / "a.py").write_text("other\n")


def deleted(folder: Path) -> None:
    (folder / "a.py").unlink()


def a_link_outside(folder: Path) -> None:
    (folder / "a.py").unlink()
    (folder / "a.py").symlink_to(folder.parent.parent / "secret.py")


def a_link_inside(folder: Path) -> None:
    (folder / "a.py").unlink()
    (folder / "a.py").symlink_to("other.py")


def a_link_to_nowhere(folder: Path) -> None:
    (folder / "a.py").unlink()
    (folder / "a.py").symlink_to("nowhere.py")


def a_folder(folder: Path) -> None:
    (folder / "a.py").unlink()
    (folder / "a.py").mkdir()


def in_a_link_outside(folder: Path) -> None:
    folder.rename(folder.parent / "was")
    (folder.parent.parent / "a.py").write_text(TEXT)
    folder.symlink_to(folder.parent.parent)


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "read-only": (read_only, "read-only"),
    "in a read-only folder": (in_a_read_only_folder, "Permission denied"),
    "changed": (changed, "has changed"),
    "deleted": (deleted, "no such file"),
    "a link outside": (a_link_outside, "link"),
    "a link inside": (a_link_inside, "link"),
    "a link to nowhere": (a_link_to_nowhere, "link"),
    "a folder": (a_folder, "directory"),
    "in a link outside": (in_a_link_outside, ""),
}
MAY_BE_READ_ONLY = {"move_file", "delete_file"}
"""A folder's permissions decide about its names, not those of the file."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("tool", CALLS)
async def test_what_happens_to_the_file_meanwhile(anybody: Bench, tool: str, fault: str) -> None:
    (edit,) = (await anybody.preview(tool, **CALLS[tool])).edits
    happen, words = FAULTS[fault]
    happen(anybody.root / "sub")
    before = tree(anybody.root.parent)
    outcome = await carried_out(anybody, edit)
    if fault == "read-only" and tool in MAY_BE_READ_ONLY:
        assert isinstance(outcome, Applied)
        return
    assert not isinstance(outcome, Applied)
    assert words in outcome.reason
    assert tree(anybody.root.parent) == before
    if fault == "in a read-only folder":
        (anybody.root / "sub").chmod(0o755)


@pytest.mark.parametrize("tool", ["edit_file", "write_file", "apply_patch"])
@pytest.mark.parametrize("disk", [full, nullcontext], ids=["full", "not full"])
async def test_a_full_disk(bench: Bench, tool: str, disk: Callable[[], AbstractContextManager[None]]) -> None:
    bench.write("sub/a.py", TEXT)
    (edit,) = (await bench.preview(tool, **CALLS[tool])).edits
    before = tree(bench.root)
    with disk():
        outcome = await carried_out(bench, edit)
    if disk is nullcontext:
        assert isinstance(outcome, Applied)
    else:
        assert not isinstance(outcome, Applied)
        assert "too large" in outcome.reason
        assert tree(bench.root) == before


async def test_a_new_file_on_a_full_disk_is_not_there(bench: Bench) -> None:
    (edit,) = (await bench.preview("write_file", path="new/b.py", content=TEXT)).edits
    with full():
        assert not isinstance(await carried_out(bench, edit), Applied)
    assert tree(bench.root) == {}


async def test_a_new_file_where_there_is_one_by_now(bench: Bench) -> None:
    (edit,) = (await bench.preview("write_file", path="b.py", content=TEXT)).edits
    (moved,) = (await bench.preview("write_file", path="c.py", content=TEXT)).edits
    bench.write("b.py", "theirs\n")
    (bench.root / "c.py").symlink_to("b.py")
    for item in (edit, moved):
        outcome = await carried_out(bench, item)
        assert not isinstance(outcome, Applied)
        assert "exists now" in outcome.reason
    assert (bench.root / "b.py").read_bytes() == b"theirs\n"
