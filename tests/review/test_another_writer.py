"""Another server or program writes a closed file between any two reads of it, as two editors on one folder do."""

from collections.abc import Callable
from pathlib import Path, PurePath

import pytest

from tark_lsp.workspace.disk.folder import File
from tark_lsp.workspace.disk.opening import open_folder
from tests.review.review_desk import Desk

TEXT = "".join(f"line {n}\n" for n in range(12))
THEIRS: list[Callable[[str], str]] = [
    lambda text: text.replace("line 3\n", "THREE\n"),
    lambda text: "".join(f"more {n}\n" for n in range(3)) + text,
    lambda text: text.replace("line 4\n", ""),
]


class Looks:
    """Counts the reads of a file through its folder, and calls a function right after one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.count = 0
        self.then: dict[int, Callable[[], None]] = {}
        kind = type(open_folder(folder))
        read = kind.read

        def look(opened: object, relative: PurePath, cap: int) -> File:
            assert isinstance(opened, kind)
            file = read(opened, relative, cap)
            self.count += 1
            if self.count in self.then:
                self.then.pop(self.count)()
            return file

        monkeypatch.setattr(kind, "read", look)


@pytest.mark.parametrize("theirs", THEIRS, ids=["near", "above", "less"])
@pytest.mark.parametrize(
    ("written", "after"),
    [*(("", after) for after in range(1, 6)), *(("5\n", after) for after in range(1, 8))],
)
async def test_written_by_another_between_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, after: int, theirs: Callable[[str], str]
) -> None:
    """Both changes are in the file, also the user's own lines for the hunk, and undo takes back one of them."""
    desk = Desk(tmp_path.resolve())
    path = desk.folder / "a.py"
    path.write_text(TEXT)

    def write() -> None:
        path.write_text(theirs(path.read_text()))

    looks = Looks(monkeypatch, desk.folder)
    (hunk,) = desk.propose(path, (5, 6, ["FIVE\n"]))
    looks.then[looks.count + after] = write
    if written:
        await desk.reviews.edit(hunk.id, written)
    await desk.reviews.accept([hunk])
    assert hunk.state == "accepted"
    assert (written or "FIVE\n") in path.read_text().splitlines(keepends=True)
    undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
    assert undone.kept == ()
    assert not looks.then, "it was written"
    assert path.read_text() == theirs(TEXT)
