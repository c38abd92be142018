"""Opening inside a handle: both ways of opening follow no link, no matter how fast names are swapped."""

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from types import FrameType

import pytest

from tark_lsp.errors import StaleText, WorkspaceError
from tark_lsp.workspace.disk.openat import DIRECTORY, Opener
from tark_lsp.workspace.disk.posix_files import READ
from tark_lsp.workspace.disk.posix_folder import PosixFolder
from tark_lsp.workspace.disk.renaming import rename_no_replace

SECONDS = 0.7
"""How long each race runs; `realpath` followed by `open` loses it within milliseconds."""

MORE = 10
"""How much longer on a busy machine, if not both outcomes occurred."""


@pytest.fixture(params=["openat2", "walk"])
def opener(request: pytest.FixtureRequest) -> Opener:
    return Opener(openat2=request.param == "openat2")


@pytest.fixture
def handle(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, DIRECTORY)
    yield descriptor
    os.close(descriptor)


def test_opens_what_is_there(opener: Opener, handle: int, folder: Path) -> None:
    (folder / "src/deep").mkdir(parents=True)
    (folder / "src/deep/a.py").write_bytes(b"a")
    descriptor = opener.open(handle, ("src", "deep", "a.py"), READ)
    assert os.read(descriptor, 9) == b"a"
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)
    os.close(opener.open(handle, (), DIRECTORY))


@pytest.mark.parametrize(
    "names",
    [
        ("link",),
        ("links", "b.py"),
        ("in",),
        ("out", "passwd"),
        ("..",),
        ("src", "..", "..", "x"),
        ("/etc/passwd",),
        ("", "etc"),
    ],
    ids="/".join,
)
def test_follows_nothing(opener: Opener, handle: int, folder: Path, names: tuple[str, ...]) -> None:
    (folder / "src").mkdir()
    (folder / "src/b.py").touch()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "links").symlink_to("src")
    (folder / "in").symlink_to("src/b.py")
    (folder / "out").symlink_to("/etc")
    with pytest.raises(OSError, match=r"\[Errno"):
        opener.open(handle, names, READ)


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Swaps `one` and `other` all the time, atomically (renameat2(2), RENAME_EXCHANGE)."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        pytest.skip("no renameat2 here")
    stop = threading.Event()
    names = os.fsencode(one), os.fsencode(other)

    def swap() -> None:
        while not stop.is_set():
            assert library.renameat2(-100, names[0], -100, names[1], 2) == 0

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    if one.is_symlink():
        assert library.renameat2(-100, names[0], -100, names[1], 2) == 0


def test_reads_under_swaps(opener: Opener, folder: Path) -> None:
    secret = folder.parent / "secret"
    for place, text in ((secret, b"secret"), (folder / "src", b"mine")):
        place.mkdir()
        (place / "a.py").write_bytes(text)
    (folder / "trap").symlink_to(secret)
    below = PosixFolder(folder, opener)
    read = refused = 0
    with swapping(folder / "src", folder / "trap"):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or (not (read and refused) and time.monotonic() < end + MORE):
            try:
                assert below.read(PurePath("src/a.py"), 100).data == b"mine"
                read += 1
            except (OSError, WorkspaceError):
                refused += 1
    assert read
    assert refused


def test_writes_under_swaps(opener: Opener, folder: Path) -> None:
    secret = folder.parent / "secret"
    for place in (secret, folder / "src"):
        place.mkdir()
        (place / "a.py").write_bytes(b"0")
    (folder / "trap").symlink_to(secret)
    below = PosixFolder(folder, opener)
    number = created = 0
    with swapping(folder / "src", folder / "trap"):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or (not (number and created) and time.monotonic() < end + MORE):
            try:
                below.replace(PurePath("src/a.py"), b"%d" % (number + 1), b"%d" % number, lambda: True)
                number += 1
                below.create(PurePath(f"src/new{number}/{number}.py"), b"", lambda: True)
                created += 1
            except (OSError, WorkspaceError):
                pass
    assert number
    assert created
    assert (folder / "src/a.py").read_bytes() == b"%d" % number
    assert [(path.name, path.read_bytes()) for path in secret.iterdir()] == [("a.py", b"0")]


@pytest.mark.parametrize("saves", [1, 2])
def test_a_file_saved_right_before_it_is_removed_stays(folder: Path, saves: int) -> None:
    """As an editor saves: by a rename, between the last check and the removal, and again while that is looked at."""
    path = folder / "a.py"
    path.write_bytes(b"old")
    saved: list[bytes] = []

    def save(frame: FrameType, event: str, called: object) -> None:
        is_removal = event == "c_call" and called is os.unlink
        is_move = event == "call" and frame.f_code is rename_no_replace.__code__
        if (is_removal or is_move) and len(saved) < saves:
            saved.append(b"saved %d" % len(saved))
            (folder / "saving").write_bytes(saved[-1])
            (folder / "saving").rename(path)

    sys.setprofile(save)
    try:
        with pytest.raises(StaleText):
            PosixFolder(folder).remove(PurePath("a.py"), b"old", lambda: True)
    finally:
        sys.setprofile(None)
    assert {item.name: item.read_bytes() for item in folder.iterdir()} == {"a.py": saved[-1]}


def test_handles_are_closed(folder: Path) -> None:
    (folder / "a.py").write_bytes(b"a")
    open_files = Path("/proc/self/fd")
    if not open_files.exists():
        pytest.skip("no /proc here")
    gc.collect()  # an error of an earlier test holds its folder in a cycle
    before = len(list(open_files.iterdir()))
    below = PosixFolder(folder)
    for _ in range(3):
        below.read(PurePath("a.py"), 9)
        below.replace(PurePath("a.py"), b"a", b"a", lambda: True)
        below.create(PurePath("d/b.py"), b"", lambda: True)
        below.remove(PurePath("d/b.py"), b"", lambda: True)
        with pytest.raises(OSError, match=r"\[Errno"):
            below.read(PurePath("none"), 9)
    del below
    assert len(list(open_files.iterdir())) == before
