"""Swaps between the question and the call: files, links and folders that change while the user decides, or right after.

Each says what shows that something else ran than the user was shown.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.agent.script import Call, call

OTHER, TYPED = "the other one", "typed by the user\n"


@dataclass(frozen=True, slots=True)
class Swap:
    """`swap` changes the project at `root`; `wrong(root, told)` says what is wrong, or nothing.

    `again`: the call that the model makes after the first one was allowed with a grant; it must be asked about again.
    """

    name: str
    first: Call
    swap: Callable[[Path], None] = lambda _: None
    wrong: Callable[[Path, str], str] = lambda _, told: "the other one was read" if OTHER in told else ""
    again: tuple[Call, ...] = ()


def make_project(root: Path) -> None:
    files = {
        "project/sub/marker": "the shown one\n",
        "project/sub/x.txt": "one\ntwo\n",
        "project/other/marker": f"{OTHER}\n",
        "project/other/x.txt": "one\ntwo\n",
        "project/a.txt": "one\ntwo\nthree\n",
        "project/run.sh": "cat sub/marker\n",
        "outside/marker": f"{OTHER}\n",
        "outside/x.txt": "one\ntwo\n",
        "outside/first": "the shown one\n",
        "outside/second": f"{OTHER}\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "project" / "link").symlink_to(root / "outside" / "first")


def instead_of(name: str, other: str, *, link: bool) -> Callable[[Path], None]:
    """The path `name` is another file or folder, or a link to one."""

    def swap(root: Path) -> None:
        path = root / "project" / name
        path.rename(path.with_name("kept"))
        if link:
            path.symlink_to(root / other)
        else:
            (root / other).rename(path)

    return swap


def retarget(root: Path) -> None:
    (root / "project" / "new").symlink_to(root / "outside" / "second")
    (root / "project" / "new").rename(root / "project" / "link")


def type_into(name: str) -> Callable[[Path], None]:
    """As an editor saves: the new text is at the path from one moment to the next."""

    def swap(root: Path) -> None:
        path = root / "project" / name
        path.with_name("saving").write_text(TYPED)
        path.with_name("saving").rename(path)

    return swap


def create(name: str) -> Callable[[Path], None]:
    def swap(root: Path) -> None:
        with (root / "project" / name).open("x") as file:
            file.write(TYPED)

    return swap


def outside_changed(root: Path, told: str) -> str:
    if OTHER in told:
        return "the other one was read"
    names = {path.name: path.read_text() for path in (root / "outside").iterdir()}
    expected = {"marker": f"{OTHER}\n", "x.txt": "one\ntwo\n", "first": "the shown one\n", "second": f"{OTHER}\n"}
    return "" if names == expected else f"outside is {names}"


def typed_lost(name: str) -> Callable[[Path, str], str]:
    def wrong(root: Path, _: str) -> str:
        path = root / "project" / name
        return "" if path.exists() and TYPED in path.read_text() else f"what the user typed into {name} is lost"

    return wrong


def run(command: str, **more: object) -> Call:
    return call("run_command", command=command, **more)


WRITE = call("write_file", path="a.txt", content="new\n")
EDIT = call("edit_file", path="sub/x.txt", old_text="one\n", new_text="new\n")
IN_SUB = run("cat marker && touch made", cwd="sub")
SWAPS = (
    Swap("folder of a command: a link out", IN_SUB, instead_of("sub", "outside", link=True), outside_changed),
    Swap("folder of a command: a link inside", IN_SUB, instead_of("sub", "project/other", link=True)),
    Swap("folder of a command: another folder", IN_SUB, instead_of("sub", "project/other", link=False)),
    Swap("file of write_file: a link out", WRITE, instead_of("a.txt", "outside/x.txt", link=True), outside_changed),
    Swap("file of write_file: saved", WRITE, type_into("a.txt"), typed_lost("a.txt")),
    Swap("file of edit_file: its folder a link out", EDIT, instead_of("sub", "outside", link=True), outside_changed),
    Swap("file of delete_file: saved", call("delete_file", path="a.txt"), type_into("a.txt"), typed_lost("a.txt")),
    Swap(
        "file of delete_file: its folder a link out",
        call("delete_file", path="sub/x.txt"),
        instead_of("sub", "outside", link=True),
        outside_changed,
    ),
    Swap(
        "target of move_file: created",
        call("move_file", source="a.txt", target="b.txt"),
        create("b.txt"),
        typed_lost("b.txt"),
    ),
    Swap(
        "target of move_file: its folder a link out",
        call("move_file", source="a.txt", target="sub/b.txt"),
        instead_of("sub", "outside", link=True),
        outside_changed,
    ),
    Swap("file of read_file: another link", call("read_file", path="../outside/first"), retarget),
    Swap("link of read_file: another target", call("read_file", path="link"), retarget),
    Swap(
        "folder of a granted command: another folder",
        run("cat marker", cwd="sub"),
        instead_of("sub", "project/other", link=False),
        again=(run("cat marker", cwd="sub"),),
    ),
    Swap("words of a command", run("cat sub/marker"), again=(run("cat sub/marker ../outside/marker"),)),
    Swap("folder of a command", run("cat marker", cwd="sub"), again=(run("cat marker", cwd="other"),)),
    Swap(
        "script of a command",
        run("sh run.sh"),
        again=(
            call("write_file", path="run.sh", content="cat ../outside/marker outside/marker other/marker\n"),
            run("sh run.sh"),
        ),
    ),
)


class Delayed:
    """Makes a swap once, at once or some time later in another thread. `made`: nothing was in its way."""

    def __init__(self, swap: Callable[[], None], seconds: float) -> None:
        self._swap, self._seconds = swap, seconds
        self._thread: threading.Thread | None = None
        self.made = False

    def __call__(self) -> None:
        if self._thread is not None:
            return
        self._thread = threading.Thread(target=self._later)
        self._thread.start()
        if not self._seconds:
            self._thread.join()

    def _later(self) -> None:
        time.sleep(self._seconds)
        try:
            self._swap()
            self.made = True
        except OSError:
            pass  # the call had moved or created something there

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join()


def clear(root: Path) -> None:
    for folder, folders, names in os.walk(root, topdown=False):
        for name in names:
            Path(folder, name).unlink()
        for name in folders:
            path = Path(folder, name)
            path.unlink() if path.is_symlink() else path.rmdir()
