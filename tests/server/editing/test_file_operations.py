"""Renames and deletes by the editor: asked if it can, verified on disk, and nothing is lost if it fails."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.editing import file_operations
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tests.server.scripted import Json, ScriptedEditor, refuse, uri_path

pytestmark = pytest.mark.virtual_clock

TEXT = "one\ntwo\n"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("PROOF", 0.15), ("IN_FLIGHT", 0.1), ("LOOK", 0.01)):
        monkeypatch.setattr(file_operations, f"{name}_SECONDS", seconds)


def editor_of(folder: Path, *operations: str, tark: tuple[str, ...] = ()) -> ScriptedEditor:
    client: Json = {"workspace": {"workspaceEdit": {"resourceOperations": list(operations)}}}
    client["experimental"] = {"tark": {"protocol": 1, **dict.fromkeys(tark, True)}}
    return ScriptedEditor(folder.resolve(), client)


@pytest.fixture
def editor(tmp_path: Path) -> ScriptedEditor:
    return editor_of(tmp_path, "create", "rename", "delete")


def sent(editor: ScriptedEditor) -> list[Json]:
    return [params for method, params in editor.connection.asked if method == "workspace/applyEdit"]


def on_disk(editor: ScriptedEditor) -> dict[str, str]:
    paths = [path for path in editor.folder.rglob("*") if path.is_file()]
    return {path.relative_to(editor.folder).as_posix(): path.read_text() for path in paths}


async def move(editor: ScriptedEditor, path: Path, name: str = "in/b.py") -> Outcome:
    return await editor.workspace.move(editor.workspace.read(path), editor.folder / name)


async def remove(editor: ScriptedEditor, path: Path) -> Outcome:
    return await editor.workspace.remove(editor.workspace.read(path))


def closed(editor: ScriptedEditor) -> Path:
    (editor.folder / "a.py").write_text(TEXT)
    return editor.folder / "a.py"


# An honest editor


async def test_an_open_document_is_renamed(editor: ScriptedEditor) -> None:
    path, target = editor.open("a.py", TEXT), editor.folder / "in/b.py"
    outcome = await move(editor, path)
    assert isinstance(outcome, Applied)
    assert (outcome.snapshot, outcome.note) == (editor.workspace.read(target), "")
    assert on_disk(editor) == {"in/b.py": TEXT}
    assert editor.documents.paths() == (target,)
    assert sent(editor) == [
        {
            "label": "Tark: move a.py to b.py",
            "edit": {
                "documentChanges": [
                    {
                        "kind": "rename",
                        "oldUri": path.as_uri(),
                        "newUri": target.as_uri(),
                        "options": {"overwrite": False},
                    }
                ]
            },
        }
    ]


async def test_a_closed_file_is_renamed_by_the_editor_too(editor: ScriptedEditor) -> None:
    """So other servers can repair references to it."""
    assert isinstance(await move(editor, closed(editor)), Applied)
    assert on_disk(editor) == {"in/b.py": TEXT}
    assert len(sent(editor)) == 1


async def test_an_open_document_is_deleted(editor: ScriptedEditor) -> None:
    path = editor.open("a.py", TEXT)
    assert isinstance(await remove(editor, path), Applied)
    assert on_disk(editor) == {}
    assert editor.documents.paths() == ()
    (params,) = sent(editor)
    assert params["label"] == "Tark: delete a.py"
    assert params["edit"]["documentChanges"] == [
        {"kind": "delete", "uri": path.as_uri(), "options": {"recursive": False, "ignoreIfNotExists": False}}
    ]


async def test_a_closed_file_is_deleted_by_the_server(editor: ScriptedEditor) -> None:
    assert isinstance(await remove(editor, closed(editor)), Applied)
    assert sent(editor) == []
    assert on_disk(editor) == {}


# An editor that says it cannot


@pytest.mark.parametrize("operations", [(), ("create",)])
async def test_an_editor_without_operations_is_not_asked(tmp_path: Path, operations: tuple[str, ...]) -> None:
    editor = editor_of(tmp_path, *operations)
    assert isinstance(await move(editor, closed(editor)), Applied)
    assert on_disk(editor) == {"in/b.py": TEXT}
    path = editor.open("a.py", TEXT)
    for outcome in (await move(editor, path, "c.py"), await remove(editor, path)):
        assert outcome == Refused("it is open in the editor: close it, then try again")
    assert on_disk(editor) == {"a.py": TEXT, "in/b.py": TEXT}
    assert sent(editor) == []


# Unsaved changes


@pytest.mark.parametrize("work", [move, remove])
async def test_unsaved_changes_are_not_moved_or_deleted(
    editor: ScriptedEditor, work: Callable[[ScriptedEditor, Path], Any]
) -> None:
    path = editor.open("a.py", TEXT)
    editor.type(path, (0, 0, "typed\n"))
    assert await work(editor, path) == Refused("it has unsaved changes: save it, then try again")
    assert sent(editor) == []
    editor.save(path)
    assert isinstance(await work(editor, path), Applied)


@pytest.mark.parametrize("work", [move, remove])
async def test_what_is_open_by_a_link_is_not_moved_or_deleted(
    editor: ScriptedEditor, work: Callable[[ScriptedEditor, Path], Any]
) -> None:
    """The editor would move or delete the link."""
    (editor.folder / "link.py").symlink_to("a.py")
    path = closed(editor)
    item = {"uri": (editor.folder / "link.py").as_uri(), "languageId": "python", "version": 1, "text": TEXT}
    DocumentSync(editor.documents).did_open({"textDocument": item})
    assert await work(editor, path) == Refused("it is open through a link: close that document, then try again")
    assert sent(editor) == []
    assert (editor.folder / "link.py").is_symlink()


def saves(editor: ScriptedEditor, path: Path) -> None:
    editor.save(path)


def does_not_save(_: ScriptedEditor, __: Path) -> None:
    pass


def fails_to_save(_: ScriptedEditor, path: Path) -> None:
    refuse(path)


def formats_and_saves(editor: ScriptedEditor, path: Path) -> None:
    editor.type(path, (0, 0, "# formatted\n"))
    editor.save(path)


SAVES: dict[str, tuple[Callable[[ScriptedEditor, Path], None], type[Outcome]]] = {
    "saves": (saves, Applied),
    "does not": (does_not_save, Refused),
    "fails": (fails_to_save, Refused),
    "formats": (formats_and_saves, Stale),
}


@pytest.mark.parametrize(("save", "kind"), SAVES.values(), ids=SAVES)
async def test_the_editor_saves_first(
    tmp_path: Path, save: Callable[[ScriptedEditor, Path], None], kind: type[Outcome]
) -> None:
    editor = editor_of(tmp_path, "rename", tark=("save",))
    path = editor.open("a.py", TEXT)
    editor.type(path, (0, 0, "typed\n"))

    def answer(params: Json) -> Json:
        assert params == {"uris": [path.as_uri()]}
        save(editor, path)
        return {"saved": params["uris"]}

    editor.connection.answers["tark/save"] = answer
    assert isinstance(await move(editor, path), kind)
    (text,) = on_disk(editor).values()
    assert text.endswith(TEXT)
    assert kind is not Applied or on_disk(editor) == {"in/b.py": f"typed\n{TEXT}"}


# Files that changed meanwhile


async def test_what_changed_is_stale(editor: ScriptedEditor) -> None:
    for path in (editor.open("a.py", TEXT), closed(editor)):
        before = editor.workspace.read(path)
        if path in editor.open_buffers:
            editor.type(path, (0, 0, "typed\n"))
            assert isinstance(await editor.workspace.remove(before), Stale)
        else:
            path.write_text("other\n")
        assert isinstance(await editor.workspace.move(before, editor.folder / "b.py"), Stale)
        if path in editor.open_buffers:
            editor.close(path)
    assert sent(editor) == []


async def test_the_new_place_is_taken(editor: ScriptedEditor) -> None:
    path = editor.open("a.py", TEXT)
    (editor.folder / "b.py").write_text("mine\n")
    (editor.folder / "c.py").symlink_to("nowhere")
    for name in ("b.py", "c.py"):
        assert await move(editor, path, name) == Refused("there is something at the new place already")
    assert on_disk(editor) == {"a.py": TEXT, "b.py": "mine\n"}
    assert sent(editor) == []


async def test_the_new_place_leads_elsewhere(editor: ScriptedEditor, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = editor.open("a.py", TEXT)
    (editor.folder / "in").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    assert isinstance(await move(editor, path), Refused)
    assert sent(editor) == []


# Editors as they are

Habit = Callable[[ScriptedEditor, Json], Any]


def skips(_: ScriptedEditor, __: Json) -> Json:
    return {"applied": True}


def refuses(_: ScriptedEditor, __: Json) -> Json:
    return {"applied": False, "failureReason": "read-only"}


def fails(_: ScriptedEditor, params: Json) -> Any:
    return refuse(params)


def never_answers(_: ScriptedEditor, __: Json) -> Any:
    return asyncio.get_running_loop().create_future()


def late(editor: ScriptedEditor, params: Json) -> Json:
    asyncio.get_running_loop().call_later(0.05, editor.apply, params)
    return {"applied": True}


def says_nothing(editor: ScriptedEditor, params: Json) -> None:
    editor.apply(params)


def on_disk_only(_: ScriptedEditor, params: Json) -> Json:
    """kakoune-lsp: the old buffer stays."""
    (change,) = params["edit"]["documentChanges"]
    if change["kind"] == "delete":
        uri_path(change["uri"]).unlink()
    else:
        target = uri_path(change["newUri"])
        target.parent.mkdir(exist_ok=True)
        uri_path(change["oldUri"]).rename(target)
    return {"applied": True}


def opens_late(editor: ScriptedEditor, params: Json) -> Json:
    """The old document is closed at once, the new one opened a moment later."""
    (change,) = params["edit"]["documentChanges"]
    old, new = uri_path(change["oldUri"]), uri_path(change["newUri"])
    new.parent.mkdir(exist_ok=True)
    old.rename(new)
    editor.close(old)
    asyncio.get_running_loop().call_later(0.05, editor.open, "in/b.py", TEXT)
    return {"applied": True}


def formats(editor: ScriptedEditor, params: Json) -> Json:
    """Like `:saveas` with a formatter: the buffer is written again at its new place."""
    editor.apply(params)
    (change,) = params["edit"]["documentChanges"]
    path = uri_path(change["newUri"])
    editor.type(path, (0, 0, "# formatted\n"))
    editor.save(path)
    return {"applied": True}


def takes_away(_: ScriptedEditor, params: Json) -> Json:
    (change,) = params["edit"]["documentChanges"]
    uri_path(change["oldUri"]).unlink()
    return {"applied": True}


MOVED: dict[str, tuple[Habit, str]] = {
    "late": (late, ""),
    "says nothing": (says_nothing, ""),
    "on disk only": (on_disk_only, "the editor still has its text open at the old place: close it there"),
    "opens late": (opens_late, ""),
    "formats": (formats, "its text was changed on the way"),
}


def behave(editor: ScriptedEditor, habit: Habit) -> None:
    editor.connection.answers["workspace/applyEdit"] = lambda params: habit(editor, params)


@pytest.mark.parametrize(("habit", "note"), MOVED.values(), ids=MOVED)
async def test_a_rename_is_seen(editor: ScriptedEditor, habit: Habit, note: str) -> None:
    path, target = editor.open("a.py", TEXT), editor.folder / "in/b.py"
    behave(editor, habit)
    outcome = await move(editor, path)
    assert isinstance(outcome, Applied)
    assert outcome.note == note
    assert outcome.snapshot == editor.workspace.read(target)
    assert list(on_disk(editor)) == ["in/b.py"]
    assert (target in editor.open_buffers) is (habit is not on_disk_only)


NOT_MOVED: dict[str, tuple[Habit, str]] = {
    "skips": (skips, "the editor said it moved the file, but it is where it was"),
    "refuses": (refuses, "the editor refused: read-only"),
    "fails": (fails, "the editor refused: the editor failed"),
    "never answers": (never_answers, "the editor did not answer within 30 s"),
}


@pytest.mark.parametrize(("habit", "reason"), NOT_MOVED.values(), ids=NOT_MOVED)
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_a_rename_that_did_not_happen(editor: ScriptedEditor, habit: Habit, reason: str, is_open: bool) -> None:
    """For a closed file the server then does it, but never if the editor can still do it."""
    path = editor.open("a.py", TEXT) if is_open else closed(editor)
    behave(editor, habit)
    outcome = await move(editor, path)
    assert len(sent(editor)) == 1
    if is_open or habit is never_answers:
        assert outcome == Refused(reason)
        assert on_disk(editor) == {"a.py": TEXT}
    else:
        assert isinstance(outcome, Applied)
        assert on_disk(editor) == {"in/b.py": TEXT}


async def test_a_file_the_editor_took_away_is_told_of(editor: ScriptedEditor) -> None:
    path = editor.open("a.py", TEXT)
    behave(editor, takes_away)
    outcome = await move(editor, path)
    assert outcome == Refused("the editor took the file away and did not put it at its new place")


async def test_a_closed_file_that_comes_to_be_open_meanwhile_is_the_editors(editor: ScriptedEditor) -> None:
    path = closed(editor)

    def opens(editor: ScriptedEditor, _: Json) -> Json:
        editor.open("a.py", TEXT)
        return {"applied": False}

    behave(editor, opens)
    assert isinstance(await move(editor, path), Refused)
    assert on_disk(editor) == {"a.py": TEXT}


DELETED: dict[str, tuple[Habit, Outcome | str]] = {
    "late": (late, ""),
    "on disk only": (on_disk_only, "the editor still has its text open: close it"),
    "skips": (skips, Refused("the editor said it deleted the file, but it is still there")),
    "refuses": (refuses, Refused("the editor refused: read-only")),
}


@pytest.mark.parametrize(("habit", "expected"), DELETED.values(), ids=DELETED)
async def test_a_delete_is_seen(editor: ScriptedEditor, habit: Habit, expected: Outcome | str) -> None:
    path = editor.open("a.py", TEXT)
    behave(editor, habit)
    outcome = await remove(editor, path)
    if isinstance(outcome, Applied):
        assert outcome.note == expected
        assert not outcome.snapshot.exists
    else:
        assert outcome == expected
    assert path.exists() is not isinstance(outcome, Applied)


async def test_one_is_in_flight_at_a_time(editor: ScriptedEditor) -> None:
    flying = 0

    async def slow(params: Json) -> Json:
        nonlocal flying
        flying += 1
        assert flying == 1
        await asyncio.sleep(0.02)
        flying -= 1
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = slow
    one, other = editor.open("a.py", TEXT), editor.open("c.py", TEXT)
    outcomes = await asyncio.gather(move(editor, one), remove(editor, other))
    assert all(isinstance(outcome, Applied) for outcome in outcomes)
    assert on_disk(editor) == {"in/b.py": TEXT}
