"""What a turn is about: ranges of older versions carried forward, of newer ones waited for, clamped, refused, caret."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import RequestError
from tark_lsp.server.documents import targets
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.protocol import incoming
from tests.exhaustive import examples
from tests.server.scripted import UNITS, Json, ScriptedEditor

pytestmark = pytest.mark.virtual_clock

TEXT = "import math\n\n\ndef area(radius):\n    return math.pi * radius**2\n\n\nprint(area(1))\n"


class Desk:
    def __init__(self, folder: Path, encoding: str = "utf-16", **more: Any) -> None:
        self.editor = ScriptedEditor(folder.resolve(), encoding=encoding, **more)
        self.targets = Targets(self.editor.documents, self.editor.workspace)

    async def find(self, path: Path, range_: Json | None = None, version: int | None = None) -> Target:
        identifier = incoming.DocumentId(uri=path.as_uri(), version=version)
        return await self.targets.find_target(
            identifier, None if range_ is None else incoming.Range.model_validate(range_)
        )

    async def selected(self, path: Path, range_: Json | None = None, version: int | None = None) -> str:
        selection = (await self.find(path, range_, version)).selection
        return selection.snapshot.text[selection.start : selection.end]

    def range(self, text: str, start: int, end: int) -> Json:
        return {"start": self.editor.position(text, start), "end": self.editor.position(text, end)}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def span(start: tuple[int, int], end: tuple[int, int]) -> Json:
    return {
        side: dict(zip(("line", "character"), place, strict=True)) for side, place in (("start", start), ("end", end))
    }


@pytest.mark.parametrize("encoding", UNITS)
@pytest.mark.parametrize("words", ["🥧 = é", "= é + 𝒳", "é", "𝒳"])
async def test_characters_count_in_the_clients_units(tmp_path: Path, encoding: str, words: str) -> None:
    desk = Desk(tmp_path, encoding)
    text = "# 🥧🥧\n🥧 = é + 𝒳 + longer\n"
    path = desk.editor.open("f.py", text)
    start = text.index(words, 4)
    wanted = desk.range(text, start, start + len(words))
    target = await desk.find(path, wanted)
    selected = text[target.selection.start : target.selection.end]
    assert selected == (words if len(words) > 1 else "🥧 = é + 𝒳 + longer\n")
    if len(words) > 1:
        assert desk.targets.range_json(target) == wanted
    assert (target.is_file, target.whole, target.name) == (True, False, "f.py")


async def test_no_range_is_the_whole_document(desk: Desk) -> None:
    target = await desk.find(desk.editor.open("f.py", TEXT))
    assert target.whole
    assert (target.selection.start, target.selection.end) == (0, len(TEXT))


@pytest.mark.parametrize(
    ("range_", "selected"),
    [
        (span((4, 8), (4, 8)), "def area(radius):\n    return math.pi * radius**2\n"),
        (span((3, 0), (3, 1)), "def area(radius):\n    return math.pi * radius**2\n"),
        (span((4, 30), (5, 0)), "def area(radius):\n    return math.pi * radius**2\n"),
        (span((0, 3), (0, 4)), "import math\n"),
        (span((8, 0), (8, 0)), ""),
        (span((4, 4), (4, 6)), "re"),
        (span((4, 4), (4, 999)), "return math.pi * radius**2"),
        (span((4, 999), (5, 0)), "def area(radius):\n    return math.pi * radius**2\n"),
        (span((0, 0), (8, 0)), TEXT),
        (span((0, 0), (8, 7)), TEXT),
    ],
)
async def test_carets_and_clamps(desk: Desk, range_: Json, selected: str) -> None:
    path = desk.editor.open("f.py", TEXT)
    assert await desk.selected(path, range_) == selected


@pytest.mark.parametrize(
    ("range_", "message"),
    [
        (span((9, 0), (9, 0)), "line 9 is past the end"),
        (span((0, 0), (900, 0)), "line 900 is past the end"),
        (span((4, 5), (4, 4)), "ends before it starts"),
        (span((4, 0), (3, 0)), "ends before it starts"),
    ],
)
@pytest.mark.parametrize("is_open", [True, False])
async def test_ranges_that_make_no_sense(desk: Desk, range_: Json, message: str, is_open: bool) -> None:
    path = desk.editor.open("f.py", TEXT)
    if not is_open:
        desk.editor.close(path)
    with pytest.raises(RequestError, match=message) as caught:
        await desk.find(path, range_)
    assert caught.value.rpc_code == -32602


async def test_the_last_line_without_an_ending(desk: Desk) -> None:
    path = desk.editor.open("f.py", "a\nlast 🥧")
    assert await desk.selected(path, span((1, 2), (1, 2))) == "last 🥧"


# Older and newer versions


@pytest.mark.parametrize(
    ("edits", "selected"),
    [
        ([(0, 0, "# above\n")], "math.pi"),
        ([(0, 12, "")], "math.pi"),
        ([(len(TEXT), len(TEXT), "# below\n")], "math.pi"),
        ([(TEXT.index("return"), TEXT.index("return"), "🥧 = ")], "math.pi"),
        ([(TEXT.index("return") - 4, TEXT.index("math.pi"), "")], "math.pi"),
        ([(TEXT.index("math.pi"), TEXT.index("math.pi"), "x\n")], "math.pi"),
        ([(TEXT.index("math.pi") + 7, TEXT.index("math.pi") + 7, "x")], "math.pi"),
        ([(0, 0, "a\n"), (0, 0, "b\n"), (4, 4, "c")], "math.pi"),
        ([(TEXT.index("math.pi") + 2, TEXT.index("math.pi") + 2, "x")], None),
        ([(TEXT.index("math.pi") + 6, TEXT.index("math.pi") + 8, "x")], None),
        ([(TEXT.index("math.pi") - 1, TEXT.index("math.pi") + 1, "x")], None),
        ([(0, len(TEXT), TEXT)], None),
    ],
)
@pytest.mark.parametrize("encoding", UNITS)
async def test_an_older_version_is_carried_forward(
    tmp_path: Path, encoding: str, edits: list[tuple[int, int, str]], selected: str | None
) -> None:
    desk = Desk(tmp_path, encoding)
    path = desk.editor.open("f.py", TEXT)
    wanted = desk.range(TEXT, TEXT.index("math.pi"), TEXT.index("math.pi") + 7)
    desk.editor.type(path, *edits)
    if selected is not None:
        assert await desk.selected(path, wanted, version=1) == selected
        return
    with pytest.raises(RequestError, match="changed it meanwhile") as caught:
        await desk.find(path, wanted, version=1)
    assert caught.value.rpc_code == -32801


pieces = st.sampled_from(["🥧", "é", "a", "b\n", "\n", "c 🥧 d\n", "𝒳𝒳\n", "x\r\n"])


@settings(max_examples=examples(200))
@given(st.data())
def test_what_is_carried_forward_is_what_was_meant(data: st.DataObject) -> None:
    """In every encoding, for any typing outside of the range; typing inside of it is reported."""
    asyncio.run(carried_forward(data))


async def carried_forward(data: st.DataObject) -> None:
    desk = Desk(Path("/nowhere"), data.draw(st.sampled_from(list(UNITS))))
    before = "".join(data.draw(st.lists(pieces, max_size=8)))
    after = "".join(data.draw(st.lists(pieces, max_size=8)))
    wanted = data.draw(st.sampled_from(["«🥧ab»", "«a\n🥧»", "«»"]))
    text = before + wanted + after
    path = desk.editor.open("f.py", text, on_disk=False)
    meant = desk.range(text, len(before), len(before) + len(wanted))
    inside = False
    for _ in range(data.draw(st.integers(1, 4))):
        now = desk.editor.text(path)
        places = [place for place in range(len(now) + 1) if now[place - 1 : place + 1] != "\r\n"]
        start = data.draw(st.sampled_from(places))
        end = data.draw(st.sampled_from([place for place in places if start <= place <= start + 5]))
        at = now.find(wanted)
        inside = inside or (start < at + len(wanted) and at < end) or at < start < at + len(wanted)
        desk.editor.type(path, (start, end, data.draw(pieces)))
    if inside:
        with pytest.raises(RequestError):
            await desk.find(path, meant, version=1)
    else:
        assert await desk.selected(path, meant, version=1) == wanted


async def test_the_version_before_it_was_opened_is_not_known(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    desk.editor.close(path)
    desk.editor.open("f.py", TEXT)
    desk.editor.type(path, (0, 0, "x\n"))
    with pytest.raises(RequestError, match="no longer known") as caught:
        await desk.find(path, span((0, 0), (1, 0)), version=0)
    assert caught.value.rpc_code == -32801


async def test_only_so_many_changes_are_remembered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "REMEMBERED_CHANGES", 5)
    path = desk.editor.open("f.py", TEXT)
    for _ in range(3):  # versions 2, 3 and 4, of two changes each
        desk.editor.type(path, (0, 0, "x\n"), (0, 0, "y\n"))
    wanted = desk.range(TEXT, 0, 11)
    with pytest.raises(RequestError, match="no longer known"):
        await desk.find(path, wanted, version=1)  # the first half of version 2 was forgotten
    second = {side: {**wanted[side], "line": 2} for side in wanted}
    assert await desk.selected(path, second, version=2) == "import math"


async def test_a_newer_version_is_waited_for(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    finding = asyncio.create_task(desk.selected(path, span((1, 0), (1, 11)), version=2))
    await asyncio.sleep(0.01)
    assert not finding.done()
    desk.editor.type(path, (0, 0, "# above\n"))
    assert await finding == "import math"


async def test_a_newer_version_that_never_comes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "WAIT_FOR_VERSION", 0.02)
    path = desk.editor.open("f.py", TEXT)
    with pytest.raises(RequestError, match=r"version 7 of .* was never sent") as caught:
        await desk.find(path, span((0, 0), (0, 5)), version=7)
    assert caught.value.rpc_code == -32801


async def test_closed_while_a_newer_version_is_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "WAIT_FOR_VERSION", 0.02)
    path = desk.editor.open("f.py", TEXT)
    finding = asyncio.create_task(desk.find(path, span((0, 0), (0, 5)), version=7))
    await asyncio.sleep(0)
    desk.editor.close(path)
    with pytest.raises(RequestError):
        await finding


async def test_a_client_that_numbers_no_versions(tmp_path: Path) -> None:
    desk = Desk(tmp_path, versions=False)
    path = desk.editor.open("f.py", TEXT)
    desk.editor.type(path, (0, 0, "# above\n"))
    assert await desk.selected(path, span((1, 0), (1, 11)), version=3) == "import math"


# Documents that are not open, or no files


async def test_a_closed_document_is_read_from_disk(desk: Desk) -> None:
    path = desk.editor.folder / "f.py"
    path.write_text(TEXT)
    assert await desk.selected(path, span((0, 0), (0, 6)), version=9) == "import"


@pytest.mark.parametrize(
    ("content", "message"), [(None, "f.bin"), (b"\0\xff\xfe\0", "f.bin"), (b"x" * 10_000_001, "larger than 10 MB")]
)
async def test_files_that_cannot_be_used(desk: Desk, content: bytes | None, message: str) -> None:
    path = desk.editor.folder / "f.bin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RequestError, match=message) as caught:
        await desk.find(path)
    assert caught.value.rpc_code == -32602


async def test_a_folder_and_a_file_outside(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "f.py"
    outside.write_text("x")
    for path in (desk.editor.folder, outside):
        with pytest.raises(RequestError, match=r"^textDocument: ") as caught:
            await desk.find(path)
        assert caught.value.rpc_code == -32602


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "https://example.org/f.py", "nonsense", "", "file://host/f"])
async def test_what_is_no_file_and_not_open(desk: Desk, uri: str) -> None:
    with pytest.raises(RequestError, match="is not open and is not a file"):
        await desk.targets.find_target(incoming.DocumentId(uri=uri), None)


async def test_an_untitled_document_is_text_only(desk: Desk) -> None:
    item = {"uri": "untitled:1", "languageId": "python", "version": 1, "text": TEXT}
    DocumentSync(desk.editor.documents).did_open({"textDocument": item})
    target = await desk.targets.find_target(incoming.DocumentId(uri="untitled:1"), None)
    assert (target.is_file, target.name, target.selection.snapshot.text) == (False, "untitled:1", TEXT)
