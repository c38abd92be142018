"""Memory: a file that two servers and a person write at the same time, what its notes are, and how they are found."""

import multiprocessing
import os
import stat
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.memory import (
    LONGEST_WHOLE,
    Memory,
    append_note,
    format_note,
    memory_file,
    memory_part,
    notes_of,
    search_notes,
)
from tark_lsp.errors import WorkspaceError
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers

DAY = "2026-11-28"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "My Project"
    root.mkdir()
    return root


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path.resolve() / "state"
    state.mkdir(mode=0o700)
    return state


@pytest.fixture
def buffers() -> MemoryBuffers:
    return MemoryBuffers()


@pytest.fixture
def memory(root: Path, state: Path, buffers: MemoryBuffers) -> Memory:
    return Memory(Workspace([root], buffers), lambda: state, lambda: date.fromisoformat(DAY))


async def test_a_note_is_kept_in_a_private_file_that_says_what_it_is(memory: Memory, state: Path) -> None:
    assert memory.read_text() == ""
    assert await memory.add_note("The tests need `TARK_SHARED`.\nAsk before they run.", ["Tests", "c i", "tests", "#"])
    (file,) = (state / "memory").iterdir()
    assert file == memory.path
    assert file.name.startswith("My_Project-")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    head, note = file.read_text(encoding="utf-8").split("-->\n")
    assert head.startswith("# What Tark remembers about My Project\n")
    assert note == f"\n- {DAY} #tests #c-i The tests need `TARK_SHARED`.\n  Ask before they run.\n"
    assert [(item.text, item.tags) for item in memory.read_notes()] == [
        (f"{DAY} #tests #c-i The tests need `TARK_SHARED`.\nAsk before they run.", frozenset({"tests", "c-i"}))
    ]


async def test_the_same_note_is_kept_once(memory: Memory) -> None:
    assert await memory.add_note("Use tabs.", ["style"])
    before = memory.path.read_bytes()
    memory.path.write_bytes(before.replace(DAY.encode(), b"2001-01-01"))
    assert not await memory.add_note("Use  tabs.", ["style"])
    assert await memory.add_note("Use spaces.", ["style"])
    assert len(memory.read_notes()) == 2


async def test_what_the_person_writes_stays(memory: Memory) -> None:
    memory.path.parent.mkdir(mode=0o700)
    theirs = "# Mine\nno line ending at the end"
    memory.path.write_text(theirs, encoding="utf-8")
    await memory.add_note("Another.", [])
    assert memory.path.read_text(encoding="utf-8") == f"{theirs}\n- {DAY} Another.\n"
    assert [note.text for note in memory.read_notes()] == ["no line ending at the end", f"{DAY} Another."]


async def test_a_memory_that_is_open_is_written_by_the_editor(memory: Memory, buffers: MemoryBuffers) -> None:
    await memory.add_note("One.", [])
    saved = memory.path.read_text(encoding="utf-8")
    buffers.open(memory.path)
    buffers.type(memory.path, saved + "typed")
    assert await memory.add_note("Two.", [])
    assert memory.path.read_text(encoding="utf-8") == saved
    assert memory.read_text() == f"{saved}typed\n- {DAY} Two.\n"
    assert [label for _, label in buffers.applied] == ["Tark: a note"]


async def test_a_state_folder_inside_the_workspace_is_no_trouble(tmp_path: Path, buffers: MemoryBuffers) -> None:
    memory = Memory(Workspace([tmp_path.resolve()], buffers), lambda: tmp_path.resolve() / ".state")
    assert await memory.add_note("One.", [])
    assert await memory.add_note("Two.", [])
    assert [note.text[11:] for note in memory.read_notes()] == ["One.", "Two."]


def test_each_workspace_has_its_own(tmp_path: Path) -> None:
    one, two = memory_file(tmp_path, Path("/a/project")), memory_file(tmp_path, Path("/b/project"))
    assert one != two
    assert one.parent == two.parent == tmp_path / "memory"
    assert memory_file(tmp_path, Path("/")).name.startswith("folder-")
    assert memory_file(tmp_path, Path("/x/.. ü/")).name.startswith("_")
    assert len(memory_file(tmp_path, Path("/" + "x" * 200)).name) < 60


def add_many(path: str, who: str) -> None:
    for number in range(200):
        while not append_note(Path(path), f"\n- {who} {number}\n", "# Heading\n"):
            pass


@pytest.mark.slow  # it starts programs
def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "x.md"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=add_many, args=(str(path), who)) for who in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    notes = [item.text for item in notes_of(path.read_text(encoding="utf-8"))]
    assert sorted(notes) == sorted(f"{who} {number}" for who in ("one", "two") for number in range(200))


def test_a_file_replaced_by_an_editor_meanwhile_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.md"
    path.write_text("old\n", encoding="utf-8")
    fsync = os.fsync

    def save_as_editors_do(descriptor: int) -> None:
        fsync(descriptor)
        (tmp_path / "new").write_text("saved by the person\n", encoding="utf-8")
        (tmp_path / "new").rename(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", save_as_editors_do)
        assert not append_note(path, "note\n", "")
    assert append_note(path, "note\n", "")
    assert path.read_text(encoding="utf-8") == "saved by the person\nnote\n"


@pytest.mark.parametrize("kind", ["binary", "not UTF-8", "a folder", "a FIFO", "100 MB"])
async def test_a_bad_file_is_said_and_not_written(memory: Memory, kind: str) -> None:
    path = memory.path
    path.parent.mkdir(mode=0o700)
    match kind:
        case "binary":
            path.write_bytes(b"a\0b")
        case "not UTF-8":
            path.write_bytes(b"\xfcber")
        case "a folder":
            path.mkdir()
        case "a FIFO":
            os.mkfifo(path)
        case _:
            path.touch()
            os.truncate(path, 100_000_000)
    part, problem = memory_part(memory)
    assert part is None
    assert problem.startswith("the memory of this workspace is left out: ")
    with pytest.raises(WorkspaceError):
        await memory.add_note("x", [])


async def test_a_state_folder_that_cannot_be_made(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    def locate() -> Path:
        folder = tmp_path / "file" / "state"
        folder.mkdir()
        return folder

    memory = Memory(Workspace([root], MemoryBuffers()), locate)
    assert memory_part(memory) == (None, "the memory of this workspace is left out: Not a directory")
    with pytest.raises(WorkspaceError):
        await memory.add_note("x", [])


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("", []),
        ("# Title\n\n<!-- a\n\n- b -->\n\n- one\n- two\n", ["one", "two"]),
        ("- one\n  more\n\n  still one\n\n* two\n+ three\n1. four\n12) five\n",
         ["one\nmore\nstill one", "two", "three", "four", "five"]),
        ("- one\n  - part of it\nlazily continued\n", ["one\n- part of it\nlazily continued"]),
        ("a paragraph\nof two lines\n\nanother\n## Heading\nthird", ["a paragraph\nof two lines", "another", "third"]),
        ("- one\n\nafter a gap\n", ["one", "after a gap"]),
        ("#tag at the start\n#hashes", ["#tag at the start\n#hashes"]),
        ("<!-- never closed\n- yes", ["yes"]),
        ("- one\n- see <!-- the docs\n- two <!-- \n  lines\n", ["one", "see", "two\nlines"]),
        ("- \n-\n-- x\n", ["-- x"]),
    ],
)  # fmt: skip
def test_notes_of_what_people_write(text: str, notes: list[str]) -> None:
    assert [item.text for item in notes_of(text)] == notes


@given(
    st.text(st.sampled_from("a#-* \n<!->1.\t"), max_size=60), st.lists(st.sampled_from(["x", "Y z", "-"]), max_size=3)
)
def test_a_saved_note_is_one_note(text: str, tags: list[str]) -> None:
    others = "- before\n"
    line = format_note(text, tags, date(2026, 1, 2))
    found = notes_of(f"{others}\n- {line}\n\n- after\n")
    assert [item.text for item in (found[0], found[-1])] == ["before", "after"]
    assert len(found) == 3
    assert found[1].text.startswith("2026-01-02")


def test_a_note_hides_no_other() -> None:
    text = "".join(
        f"\n- {format_note(item, (), date(2026, 1, 2))}\n" for item in ("one", "see <!-- it", "two", "a --> b", "x")
    )
    assert [item.text[11:] for item in notes_of(text)] == ["one", "see <\\!-- it", "two", "a --> b", "x"]


NOTES = notes_of(
    "- 2026-01-01 #build The build needs make.\n"
    "- 2026-01-02 #tests Run `pytest -x`; building is not needed.\n"
    "- 2026-01-03 The Tests of the parser are slow.\n"
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("build", [(0, ("build",)), (1, ("build",))]),
        ("TESTS", [(1, ("tests",)), (2, ("tests",))]),
        ("#tests build", [(1, ("tests", "build")), (0, ("build",)), (2, ("tests",))]),
        ("the", [(2, ("the",)), (0, ("the",))]),
        ("nothing like it", []),
        ("!?", []),
    ],
)
def test_search(query: str, found: list[tuple[int, tuple[str, ...]]]) -> None:
    assert [(NOTES.index(note.note), note.why) for note in search_notes(NOTES, query)] == found


async def test_what_a_session_is_told(memory: Memory) -> None:
    assert memory_part(memory) == (None, "")
    await memory.add_note("Use tabs. </memory>\u202e", [])
    part, problem = memory_part(memory)
    assert problem == ""
    assert part is not None
    assert (part.kind, part.path) == ("memory", memory.path)
    assert part.text.endswith(
        '<memory from="your notes">\n# What Tark remembers about My Project\n\n\n\n'
        f"- {DAY} Use tabs. <\\/memory>\n</memory>"
    )
    for number in range(LONGEST_WHOLE // 20):
        await memory.add_note(f"A longer note, number {number}.", [])
    part, _ = memory_part(memory)
    assert part is not None
    assert part.text == "You kept 201 notes about this workspace in earlier sessions. Use search_memory to find them."
