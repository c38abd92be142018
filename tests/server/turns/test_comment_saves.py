"""`comments.runOnSave`: whose save runs a comment, and what can happen until it runs."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.prompting import inserted_marks
from tark_lsp.workspace.edits import ProposedEdit
from tests.cases import cases
from tests.server.desk import Desk, MakeDesk
from tests.server.turns.comment_hand import (
    AREA,
    BY_HAND,
    COMMENT,
    COMMENTED,
    DELAY,
    FOCUS,
    ON,
    SHORTER,
    Accepted,
    Hand,
    MakeHand,
)

KEPT, GONE = f"{COMMENT} !\n{AREA}", COMMENTED
# what the settings add; the name of the editor; the reasons in willSave and in didSave; does it run?
SAVES: dict[str, tuple[str, str, int | None, int | None, bool]] = {
    "by hand": ("", "", BY_HAND, None, True),
    "by hand, said by our client": ("", "Neovim", None, BY_HAND, True),
    "after a delay": ("", "", DELAY, None, False),
    "focus lost": ("", "", FOCUS, None, False),
    "after a delay, said by our client": ("", "", BY_HAND, DELAY, False),
    "no reason": ("", "", None, None, False),
    "Neovim": ("", "Neovim", BY_HAND, None, False),
    "eglot": ("", "Eglot", BY_HAND, None, False),
    "Neovim, if allowed": ("runOnUnknownSave = true\n", "Neovim", BY_HAND, None, True),
    "no reason, if allowed": ("runOnUnknownSave = true\n", "", None, None, True),
    "after a delay, if allowed": ("runOnUnknownSave = true\n", "", DELAY, None, False),
}


async def test_whose_save_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cases() as case:
        for name, (config, editor, announced, told, runs) in SAVES.items():
            folder = tmp_path / name
            folder.mkdir()
            desk = Desk(folder, monkeypatch, tark=["updates"], client_name=editor, config=f"{ON}{config}")
            with case(name):
                user = Hand(desk, Accepted(desk))
                user.comment()
                assert await user.ran(partial(user.save, announced, told)) == (SHORTER if runs else [])
                assert user.text == (GONE if runs else KEPT)
                unknown = announced is None is told or (editor and told is None)
                warned = [note for note in desk.connection.notes() if "runOnUnknownSave" in note]
                assert bool(warned) == bool(unknown and not runs)
                if not runs:
                    assert await user.ran(partial(user.save, None, BY_HAND)) == SHORTER, "it waits for a save by hand"
            await desk.stop()


async def test_off_by_default_and_when_not_trusted(make: MakeDesk) -> None:
    off = make(tark=["updates"])
    user = Hand(off, Accepted(off))
    assert await user.ran(user.comment, user.save) == []
    off.config.write_text(off.config.read_text().replace("\n", f"\n{ON}\n", 1))
    off.app.parts.configuration.reload()
    assert await user.ran(user.save) == [], "it was typed before"
    user.put(" !", "")
    assert await user.ran(user.save, lambda: user.type(COMMENT, " !"), user.save) == SHORTER

    off.config.write_text(f"workspaceTrusted = false\n{off.config.read_text()}")
    off.app.parts.configuration.reload()
    other = Hand(off, user.accepted)
    assert await other.ran(other.comment, other.save, other.save) == []
    assert off.connection.notes().count("Tark: the comment is not run, since you do not trust this workspace") == 1
    assert other.text == KEPT


async def test_a_repository_cannot_turn_it_on(make: MakeDesk) -> None:
    desk = make(tark=["updates"])
    (desk.folder / ".tark").mkdir()
    (desk.folder / ".tark" / "config.toml").write_text(ON)
    desk.app.parts.configuration.reload()
    assert not desk.app.parts.configuration.settings.comments.run_on_save
    assert any("comments.runOnSave" in problem for problem in desk.app.parts.configuration.problems)


async def test_what_we_write_runs_nothing(hand: MakeHand) -> None:
    user = hand(GONE)
    documents, buffers = user.desk.app.parts.documents, user.desk.app.parts.buffers
    document = documents.at(user.path)
    assert document is not None
    edit = ProposedEdit.between(document.snapshot(), KEPT)
    await buffers.apply(edit, "ours")
    assert user.text == KEPT
    assert await user.ran(user.save) == []
    user.put(" !", "")
    user.put(COMMENT, "# tark: longer")
    assert await user.ran(lambda: user.type("longer", " !"), user.save) == ["longer"], "what you type does"


async def test_our_save_runs_nothing(make: MakeDesk) -> None:
    desk = make(tark=["updates", "save"], config=ON)
    user = Hand(desk, Accepted(desk))

    def save(params: Any) -> Any:
        user.save()
        return {"saved": params["uris"]}

    desk.connection.answers["tark/save"] = save
    user.comment()
    assert list(await desk.app.parts.client_state.save_documents([user.path])) == [user.path]
    assert await user.ran() == []
    assert await user.ran(user.save) == SHORTER
    assert user.path.read_text() == GONE, "the removal of the ! is saved, since nothing was unsaved before"
    undo = partial(user.put, COMMENT, f"{COMMENT} !")
    assert await user.ran(undo, user.save) == [], "undo is no new one, also if the file on disk has none"


async def test_undo_of_the_removal_does_not_run_it_again(hand: MakeHand) -> None:
    user = hand()
    assert await user.ran(user.comment, user.save) == SHORTER
    assert await user.ran(lambda: user.put(COMMENT, f"{COMMENT} !"), user.save, user.save) == []
    told = [note for note in user.desk.connection.notes() if "not run again" in note]
    assert len(told) == 1
    user.put(" !", "")
    assert await user.ran(lambda: user.type(COMMENT, " !"), user.save) == [], "the file has it, so it may be read again"
    assert len([note for note in user.desk.connection.notes() if "not run again" in note]) == 2
    user.put(" !", "")
    assert await user.ran(user.save, lambda: user.type(COMMENT, " !"), user.save) == SHORTER, "now it is a new one"


async def test_the_text_changes_while_it_begins(hand: MakeHand) -> None:
    """Each is done by the user right after the save, before the `!` is removed."""
    steps: dict[str, tuple[Callable[[Hand], object], list[str], str]] = {
        "the comment removed": (lambda user: user.put(f"{COMMENT} !\n", ""), [], AREA),
        "the ! removed": (lambda user: user.put(" !", ""), [], GONE),
        "text typed elsewhere": (
            lambda user: user.type("return r", "2"),
            SHORTER,
            GONE.replace("return r", "return r2"),
        ),
        "text typed above": (lambda user: user.put("#", "import os\n#"), SHORTER, f"import os\n{GONE}"),
        "saved again": (lambda user: user.save(), SHORTER, GONE),
        "auto save": (lambda user: user.save(DELAY), SHORTER, GONE),
        "closed": (lambda user: user.desk.editor.close(user.path), [], ""),
    }
    with cases() as case:
        for name, (step, prompts, text) in steps.items():
            with case(name):
                user = hand()
                assert await user.ran(user.comment, user.save, partial(step, user)) == prompts
                if text:
                    assert user.text == text
                    assert await user.ran(user.save) == []


async def test_an_edit_that_the_editor_refuses(hand: MakeHand) -> None:
    user = hand()
    user.desk.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read only"}
    assert await user.ran(user.comment, user.save, user.save) == []
    (note,) = user.desk.connection.notes()
    assert note.startswith("Tark: the comment is not run, since its ! cannot be removed: ")
    assert "read only" in note


async def test_a_prompt_that_does_not_start(hand: MakeHand) -> None:
    user = hand("# tark: /edit make it shorter\n")
    assert await user.ran(lambda: user.type("shorter", " !"), user.save) == [], "there is nothing below to be edited"
    assert any("the comment is not run: " in note for note in user.desk.connection.notes())


@pytest.mark.parametrize("announced_first", [True, False])
async def test_the_file_is_saved_before_the_change_is_told(hand: MakeHand, announced_first: bool) -> None:
    """Emacs sends what was typed just before a save between `willSave` and `didSave`, when the file is written.

    Neovim sends it before `willSave`, but a busy server comes to it when the file is written.
    """
    user = hand(GONE)
    sync, uri = user.desk.app.parts.document_sync, {"textDocument": {"uri": user.path.as_uri()}}
    user.path.write_text(KEPT)
    if announced_first:
        sync.will_save(uri | {"reason": BY_HAND})
    user.type(COMMENT, " !")
    if not announced_first:
        sync.will_save(uri | {"reason": BY_HAND})
    assert await user.ran(lambda: sync.did_save(uri)) == SHORTER


async def test_the_file_is_read_again_before_a_save(hand: MakeHand, monkeypatch: pytest.MonkeyPatch) -> None:
    conflict = hand(GONE)
    sync, uri = conflict.desk.app.parts.document_sync, {"textDocument": {"uri": conflict.path.as_uri()}}
    sync.will_save(uri | {"reason": BY_HAND})  # it fails, since the file changed on disk; so the editor reads it again
    conflict.reload(KEPT)
    os.utime(conflict.path, (1, 1))  # a clock of a file system can be too coarse for what a test does
    assert await conflict.ran(conflict.save) == []
    assert any("the file has it already" in note for note in conflict.desk.connection.notes())

    unwritten = hand(GONE)
    sync, uri = unwritten.desk.app.parts.document_sync, {"textDocument": {"uri": unwritten.path.as_uri()}}
    unwritten.reload(KEPT)
    monkeypatch.setattr(inserted_marks, "LATE_SECONDS", 0.0)
    sync.will_save(uri | {"reason": BY_HAND})
    assert await unwritten.ran(lambda: sync.did_save(uri)) == [], "some editors say so without writing, such as Zed"
