"""Review in place through the whole server: which edits are applied at once, what waits then, and what it is called."""

from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.protocol import incoming, lsp_params
from tark_lsp.workspace.edits import ProposedEdit
from tests.server.desk import TEXT, Desk, MakeDesk, allow

pytestmark = pytest.mark.virtual_clock

ASK = "tark/requestPermission"
LITERALS = "textDocument.codeAction.codeActionLiteralSupport"
PLAIN, IN_PLACE = ("updates", "permission"), ("updates", "permission", "review")
EDITED = TEXT.replace("line 3\n", "THREE\n")


async def edit(desk: Desk, path: Path) -> tuple[bool, Any]:
    """Was it asked about, and the hunk after the turn."""
    desk.connection.answers[ASK] = allow
    await desk.end(await desk.start(f"edit {path.name}", path))
    assert desk.editor.text(path) == EDITED
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    return ASK in [method for method, _ in desk.connection.asked], hunk


CLASSES = [
    # capabilities, settings, is it asked about
    (PLAIN, "", True),
    (IN_PLACE, "", False),
    (IN_PLACE, "workspaceTrusted = true", False),
    (IN_PLACE, "workspaceTrusted = false", True),
    (IN_PLACE, 'approval = "manual"', True),
    (IN_PLACE, 'editReview = "ask"', True),
    (PLAIN, 'editReview = "after"', False),
    (PLAIN, 'approval = "balanced"', False),
    (PLAIN, 'approval = "balanced"\nworkspaceTrusted = false', True),
    (IN_PLACE, 'approval = "balanced"\neditReview = "after"\nworkspaceTrusted = false', True),
]


@pytest.mark.parametrize(("flags", "config", "asks"), CLASSES)
async def test_what_is_asked_about(make: MakeDesk, flags: tuple[str, ...], config: str, asks: bool) -> None:
    """What was asked about and allowed is decided; what is applied at once waits."""
    desk = make(tark=flags, config=config)
    path = desk.editor.open("f.py", TEXT)
    asked, hunk = await edit(desk, path)
    assert (asked, hunk["state"], hunk["applied"]) == (asks, "accepted" if asks else "pending", True)
    review = (await desk.command("tark.doctor"))["policy"]["editReview"]
    assert review == ("ask" if asks else "after")


async def test_the_level_can_change_while_the_turn_runs(make: MakeDesk) -> None:
    """A hunk that is applied at once waits, whatever the level was when the turn began."""
    desk = make(tark=IN_PLACE, config='approval = "manual"')
    path = desk.editor.open("f.py", TEXT)
    session = (await desk.command("tark.session.new", {}))["sessionId"]
    turn = await desk.start("edit f.py", path, sessionId=session)
    await desk.command("tark.settings.set", {"sessionId": session, "approval": "careful"})
    await desk.end(turn)
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (hunk["state"], hunk["applied"]) == ("pending", True)


@pytest.mark.parametrize("reason", [None, 1, 2, 3])
async def test_no_save_decides(make: MakeDesk, reason: int | None) -> None:
    desk = make(LITERALS, tark=IN_PLACE)
    path = desk.editor.open("f.py", TEXT)
    await edit(desk, path)
    desk.editor.will_save(path)
    desk.editor.save(path, reason=reason)
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (hunk["state"], hunk["applied"]) == ("pending", True)
    await desk.command("tark.hunk.reject", {"hunkIds": [hunk["hunkId"]]})
    assert desk.editor.text(path) == TEXT


async def test_the_client_is_told_what_a_formatter_made_of_a_hunk(make: MakeDesk) -> None:
    desk = make(tark=IN_PLACE)
    path = desk.editor.open("f.py", TEXT)
    _, hunk = await edit(desk, path)
    desk.editor.will_save(path)
    start = desk.editor.text(path).index("THREE")
    desk.editor.type(path, (start, start + 5, "three = 3"))
    desk.editor.save(path)
    turn = hunk["turnId"]
    (hunk,) = desk.updates(turn, "hunks")[-1]["hunks"]
    assert (hunk["newText"], hunk["state"], hunk["applied"]) == ("three = 3\n", "pending", True)
    undone = await desk.command("tark.turn.undo", {"turnId": turn})
    assert undone == {"restored": [path.as_uri()], "kept": []}
    assert desk.editor.text(path) == TEXT


@pytest.mark.parametrize("flags", [("updates", "permission"), IN_PLACE])
async def test_what_is_applied_is_kept_or_undone(make: MakeDesk, flags: tuple[str, ...]) -> None:
    desk = make(LITERALS, tark=flags, config='editReview = "after"')
    path = desk.editor.open("f.py", TEXT)
    await edit(desk, path)
    titles = [action["title"] for action in await desk.actions(path, 3)]
    assert titles[:2] == ["Keep (+1 -1)", "Undo (+1 -1)"]
    document = lsp_params.DocumentParams(text_document=incoming.DocumentId(uri=path.as_uri()))
    lenses = [lens["command"]["title"] for lens in await desk.app.lenses(document)]
    assert lenses[:2] == ([] if "review" in flags else ["Keep (+1 -1)", "Undo (+1 -1)"])


@pytest.mark.parametrize(
    ("applied", "verbs"),
    [((0, 1), ("Keep", "Undo")), ((), ("Accept", "Reject")), ((0,), ("Accept", "Reject"))],
    ids=["applied", "proposed", "both"],
)
async def test_all_in_the_file(make: MakeDesk, applied: tuple[int, ...], verbs: tuple[str, str]) -> None:
    """If some are only proposed, the words are those that say what is not done yet."""
    desk = make(LITERALS)
    path = desk.editor.open("f.py", TEXT)
    reviews, documents = desk.app.parts.reviews, desk.app.parts.documents
    document = documents.at(path)
    assert document is not None
    after = TEXT.replace("line 1\n", "ONE\n").replace("line 8\n", "")
    hunks = reviews.add_proposal("turn", [(ProposedEdit.between(document.snapshot(), after), ())])
    await reviews.accept([hunks[index] for index in applied], decide=False)
    titles = [action["title"] for action in await desk.actions(path, 1, triggerKind=2)]
    assert [title for title in titles if "all" in title] == [f"{verb} all 2 in this file" for verb in verbs]
