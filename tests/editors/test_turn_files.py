"""Whole turns that move, delete and patch files, in editors that rename and in those that do not; and their undo."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.editors.behaviour import APPLIES, EMACS, NATIVE, NEOVIM, VISUAL_STUDIO_CODE, Files, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow
from tests.editors.shapes import AREA, NEW_AREA, NEW_VOLUME, SHAPES, VOLUME

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

SCENARIO = Path(__file__).with_name("files.toml")
TEXT = "one\ntwo\n"
EDITORS = (NEOVIM, VISUAL_STUDIO_CODE)
HUNKS = replace(NEOVIM, name="neovim, for hunks")
"""With a server that no other file uses: hunks that were decided on stay listed."""
each_editor = pytest.mark.parametrize("profile", EDITORS, ids=lambda profile: profile.client)


async def opened(open_editor: OpenEditor, profile: Profile, files: Files = Files.HONEST) -> MemoryEditor:
    editor = await open_editor.in_empty_folder(profile, *NATIVE, scenario=SCENARIO)
    editor.behaviour = replace(editor.behaviour, files=files)
    editor.policy = allow
    return editor


def write(editor: MemoryEditor, *names: str) -> list[Path]:
    paths = [editor.folder / name for name in names]
    for path in paths:
        path.write_text(TEXT)
        path.chmod(0o751)
    return paths


def on_disk(editor: MemoryEditor) -> dict[str, tuple[str, int]]:
    return {
        path.relative_to(editor.folder).as_posix(): (path.read_text(), stat.S_IMODE(path.stat().st_mode))
        for path in editor.folder.rglob("*.py")
    }


@each_editor
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_a_file_is_moved_by_the_editor_and_undone(
    open_editor: OpenEditor, profile: Profile, is_open: bool
) -> None:
    editor = await opened(open_editor, profile)
    (path,) = write(editor, "a.py")
    before = on_disk(editor)
    uri = editor.open(path) if is_open else path.as_uri()
    target = editor.folder / "in/b.py"
    turn = await editor.turn("move a.py to in/b.py")
    end = await editor.end(turn)
    assert (end["text"], end["edits"]) == ("It is moved.", [{"uri": uri, "state": "applied"}])
    assert on_disk(editor) == {"in/b.py": (TEXT, 0o751)}
    assert list(editor.documents) == ([target.as_uri()] if is_open else [])
    undone = await editor.command("tark.turn.undo", {"turnId": turn})
    assert undone == {"restored": [uri], "kept": []}
    assert on_disk(editor) == before
    assert list(editor.documents) == ([uri] if is_open else [])
    kinds = [
        change["kind"]
        for message in editor.sent("workspace/applyEdit")
        for change in message.params["edit"]["documentChanges"]
    ]
    assert kinds == ["rename", "rename"]
    assert editor.contract.violations == []


async def test_an_editor_that_renames_on_disk_only(open_editor: OpenEditor) -> None:
    editor = await opened(open_editor, replace(NEOVIM, name="kakoune-lsp", behaviour=APPLIES), Files.DISK_ONLY)
    (path,) = write(editor, "a.py")
    editor.open(path)
    end = await editor.end(await editor.turn("move a.py to in/b.py"))
    assert end["text"] == "It is moved."
    assert list(on_disk(editor)) == ["in/b.py"]


@pytest.mark.parametrize("files", [Files.SKIP, Files.REFUSE])
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_an_editor_that_does_not_rename(open_editor: OpenEditor, files: Files, is_open: bool) -> None:
    """A closed file is then the server's to move."""
    editor = await opened(open_editor, NEOVIM, files)
    (path,) = write(editor, "a.py")
    if is_open:
        editor.open(path)
    end = await editor.end(await editor.turn("move a.py to in/b.py"))
    assert (end["text"], list(on_disk(editor))) == (
        ("It is not moved.", ["a.py"]) if is_open else ("It is moved.", ["in/b.py"])
    )


@pytest.mark.parametrize("prompt", ["move a.py to in/b.py", "delete a.py"])
async def test_an_editor_that_has_no_file_operations(open_editor: OpenEditor, prompt: str) -> None:
    editor = await opened(open_editor, EMACS)
    path, _ = write(editor, "a.py", "other.py")
    uri = editor.open(path)
    before = on_disk(editor)
    end = await editor.end(await editor.turn(prompt))
    assert end["edits"] == [{"uri": uri, "state": "failed"}]
    assert " not " in end["text"]
    assert on_disk(editor) == before
    editor.close_document(uri)
    await editor.end(await editor.turn(prompt))
    assert "a.py" not in on_disk(editor)
    assert editor.sent("workspace/applyEdit") == []


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_a_file_is_deleted_and_undone(open_editor: OpenEditor, is_open: bool) -> None:
    editor = await opened(open_editor, VISUAL_STUDIO_CODE)
    (path,) = write(editor, "a.py")
    before = on_disk(editor)
    uri = editor.open(path) if is_open else path.as_uri()
    turn = await editor.turn("delete a.py")
    end = await editor.end(turn)
    assert (end["text"], end["edits"]) == ("It is deleted.", [{"uri": uri, "state": "applied"}])
    assert on_disk(editor) == {}
    assert editor.documents == {}
    assert await editor.command("tark.turn.undo", {"turnId": turn}) == {"restored": [uri], "kept": []}
    assert on_disk(editor) == before
    assert len(editor.sent("workspace/applyEdit")) == int(is_open)
    assert editor.contract.violations == []


async def test_unsaved_changes_are_neither_moved_nor_deleted(open_editor: OpenEditor) -> None:
    editor = await opened(open_editor, NEOVIM)
    (path,) = write(editor, "a.py")
    uri = editor.open(path)
    editor.type(uri, 0, 0, "typed ")
    for prompt in ("move a.py to in/b.py", "delete a.py"):
        end = await editor.end(await editor.turn(prompt))
        assert " not " in end["text"]
    assert editor.text(uri) == f"typed {TEXT}"
    assert on_disk(editor) == {"a.py": (TEXT, 0o751)}
    assert editor.sent("workspace/applyEdit") == []


PATCH = "patch one.py, move two.py, delete three.py and change four.py"


@each_editor
@pytest.mark.parametrize("open_ones", [(), ("one.py", "two.py", "three.py", "four.py")], ids=["closed", "open"])
async def test_a_patch_of_four_files_and_its_undo(
    open_editor: OpenEditor, profile: Profile, open_ones: tuple[str, ...]
) -> None:
    editor = await opened(open_editor, profile)
    paths = write(editor, "one.py", "two.py", "three.py", "four.py")
    before = on_disk(editor)
    for path in paths:
        if path.name in open_ones:
            editor.open(path)
    turn = await editor.turn(PATCH)
    end = await editor.end(turn)
    assert end["text"] == "All is patched."
    assert sorted(on_disk(editor)) == ["four.py", "in/two.py", "one.py"]
    changed = {uri.rpartition("/")[2]: document.text for uri, document in editor.documents.items()}
    changed = changed or {path.name: path.read_text() for path in editor.folder.rglob("*.py")}
    assert changed == dict.fromkeys(("one.py", "two.py", "four.py"), "ONE\ntwo\n")
    undone = await editor.command("tark.turn.undo", {"turnId": turn})
    assert undone["kept"] == []
    assert on_disk(editor) == before
    assert {document.text for document in editor.documents.values()} <= {TEXT}


async def test_a_patch_that_fails_in_the_last_file_changes_nothing(open_editor: OpenEditor) -> None:
    editor = await opened(open_editor, VISUAL_STUDIO_CODE)
    paths = write(editor, "one.py", "two.py", "three.py", "four.py")
    before = on_disk(editor)
    first, last = editor.open(paths[0]), editor.open(paths[3])

    def type_in_the_first_and_refuse_the_last() -> None:
        if editor.text(first) == "ONE\ntwo\n":
            editor.before_apply = lambda: None
            editor.type(first, 2, 0, "typed\n")
            editor.replace(last, {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}, "mine\n")

    editor.before_apply = type_in_the_first_and_refuse_the_last
    end = await editor.end(await editor.turn(PATCH))
    assert end["text"] == "Nothing is patched."
    assert on_disk(editor) == before
    assert editor.text(first) == f"{TEXT}typed\n"
    assert editor.text(last) == "mine\ntwo\n"
    assert {edit["state"] for edit in end["edits"]} == {"failed"}


@pytest.mark.parametrize("told_first", [False, True], ids=["closed first", "told first"])
@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
async def test_a_file_renamed_by_the_person_takes_its_hunks_along(
    open_editor: OpenEditor, told_first: bool, folder: bool
) -> None:
    editor = await open_editor.in_empty_folder(HUNKS)
    old, new = (editor.folder / name / "f.py" for name in ("old", "new"))
    if not folder:
        new = old.with_name("g.py")
    old.parent.mkdir()
    old.write_text(SHAPES)
    uri = editor.open(old)
    turn = await editor.turn("rewrite area and volume in old/f.py", uri)
    question = await editor.question()
    (old.parent if folder else old).rename(new.parent if folder else new)
    files = {"oldUri": old.as_uri(), "newUri": new.as_uri()}
    if folder:
        files = {"oldUri": old.parent.as_uri(), "newUri": new.parent.as_uri()}
    if told_first:
        editor.connection.notify("workspace/didRenameFiles", {"files": [files]})
    editor.close_document(uri)
    there = editor.open(new)
    if not told_first:
        editor.connection.notify("workspace/didRenameFiles", {"files": [files]})
    await editor.connection.until(lambda: len(editor.diagnostics.get(there, ())) == 2, "both hunks at the new place")
    assert editor.diagnostics[uri] == []
    assert (await editor.command("tark.hunk.list", {"uri": uri}))["hunks"] == []
    hunks = (await editor.command("tark.hunk.list", {"uri": there}))["hunks"]
    assert [hunk["state"] for hunk in hunks if hunk["turnId"] == turn] == ["pending"] * 2
    question.choose("Review")
    again = await editor.question()
    assert again.text.endswith(": +2 -2 lines")
    again.choose("Apply")
    await editor.end(turn)
    assert editor.text(there) == SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME)
    assert not old.exists()


async def test_the_hunks_of_a_file_that_the_person_deletes_are_asked_about_no_more(open_editor: OpenEditor) -> None:
    editor = await open_editor.in_empty_folder(HUNKS)
    uri = editor.new_file(SHAPES)
    path = editor.folder / uri.rpartition("/")[2]
    turn = await editor.turn(f"rewrite area and volume in {path.name}", uri)
    await editor.question()
    path.unlink()
    editor.close_document(uri)
    editor.connection.notify("workspace/didDeleteFiles", {"files": [{"uri": uri}, {"uri": "untitled:x"}, None]})
    await editor.end(turn)
    assert editor.open_question() is None
    hunks = (await editor.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert [hunk["state"] for hunk in hunks] == ["stale"] * 2
    assert not path.exists()
