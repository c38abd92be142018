"""Code actions, lenses and hovers: what is offered at which place, in which shape, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.server.protocol import incoming, lsp_params
from tark_lsp.workspace.edits import ProposedEdit
from tests.server.desk import TEXT, Desk, MakeDesk

ASK, MESSAGE = "tark/requestPermission", "window/showMessageRequest"
LITERALS = "textDocument.codeAction.codeActionLiteralSupport"
PREFERRED = "textDocument.codeAction.isPreferredSupport"
INVOKED = ["Explain", "Fix", "Write tests", "Document", "Ask…", "Edit…"]
PROGRAM = "import math\n\n\ndef area(radius):\n    return radius\n\n\nprint(area(1))\n"


def titles(actions: list[dict[str, Any]]) -> list[str]:
    return [action["title"] for action in actions]


def argument(action: dict[str, Any]) -> dict[str, Any]:
    (found,) = action["command"]["arguments"]
    return dict(found)


async def pending(desk: Desk, path: Path) -> dict[str, Any]:
    """A hunk at line 3 that waits to be decided."""
    await desk.start(f"edit {path.name}", path)
    await desk.connection.asking(ASK)
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    return dict(hunk)


async def test_on_a_range(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED)
    path = desk.editor.open("f.py", PROGRAM)
    actions = await desk.actions(path, 4)
    assert titles(actions) == [f"{title} (lines 4-5)" for title in INVOKED]
    assert {action["kind"] for action in actions} == {"refactor.rewrite.tark"}
    assert argument(actions[0]) == {
        "kind": "explain",
        "prompt": "",
        "textDocument": {"uri": path.as_uri(), "version": 1},
        "range": {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 0}},
    }
    assert titles(await desk.actions(path, 0, 3))[0] == "Explain (lines 1-3)"
    assert titles(await desk.actions(path, 7))[0] == "Explain (line 8)"
    assert desk.connection.asked == [], "no model, no person"


@pytest.mark.parametrize(
    ("only", "count"),
    [
        (None, 6),
        ([], 6),
        ([""], 6),
        (["refactor"], 6),
        (["refactor.rewrite"], 6),
        (["refactor.rewrite.tark"], 6),
        (["refactor.rewrite.tark.more"], 0),
        (["refactor.rewrit"], 0),
        (["quickfix"], 0),
        (["source", "refactor"], 6),
        (["source"], 0),
    ],
)
async def test_only_is_honoured(make: MakeDesk, only: list[str] | None, count: int) -> None:
    desk = make(LITERALS, PREFERRED)
    assert len(await desk.actions(desk.editor.open("f.py", PROGRAM), 4, only=only)) == count


async def test_the_lightbulb_gets_only_what_concerns_us(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED)
    path = desk.editor.open("f.py", PROGRAM)
    assert await desk.actions(path, 4, triggerKind=2) == []
    commented = desk.editor.open("g.py", f"# tark: shorter\n{PROGRAM}")
    assert titles(await desk.actions(commented, 0, triggerKind=2)) == ["Run: shorter"]


async def test_commands_where_there_are_no_literals(make: MakeDesk) -> None:
    desk = make("window.workDoneProgress")
    (action, *_) = await desk.actions(desk.editor.open("f.py", PROGRAM), 4)
    assert action["command"] == "tark.turn.start"
    assert set(action) == {"title", "command", "arguments"}


@pytest.mark.parametrize(("sources", "fix"), [([], True), (["ruff"], True), (["tark"], False), (["tark", "x"], True)])
async def test_no_fix_for_what_we_published_ourselves(make: MakeDesk, sources: list[str], fix: bool) -> None:
    desk = make(LITERALS, PREFERRED)
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    diagnostics = [{"range": place, "message": "x", "source": source} for source in sources]
    offered = titles(await desk.actions(desk.editor.open("f.py", PROGRAM), 4, diagnostics=diagnostics))
    assert ("Fix (lines 4-5)" in offered) == fix


async def test_a_document_that_cannot_be_worked_on(make: MakeDesk, tmp_path: Path) -> None:
    desk = make(LITERALS, PREFERRED)
    with pytest.raises(RequestError):
        await desk.actions(tmp_path / "nonesuch.py", 0)


# Hunks


@pytest.mark.parametrize(
    ("first", "last", "offered", "preferred"),
    [
        (3, 3, True, True),
        (3, 4, True, True),
        (2, 4, True, False),
        (3, 5, True, False),
        (4, 4, True, False),
        (2, 2, False, False),
        (5, 5, False, False),
    ],
)
async def test_on_a_hunk(make: MakeDesk, first: int, last: int, offered: bool, preferred: bool) -> None:
    desk = make(LITERALS, PREFERRED)
    path = desk.editor.open("f.py", TEXT)
    hunk = await pending(desk, path)
    actions = await desk.actions(path, first, last, triggerKind=2)
    ours = [action for action in actions if "tark.hunk" in action["command"]["command"]]
    assert [action.get("isPreferred", False) for action in ours[:1]] == [preferred] * offered
    assert not any(action.get("isPreferred") for action in actions[1:])
    if offered:
        assert titles(actions) == [
            "Accept (+1 -1)",
            "Reject (+1 -1)",
            "Explain this change",
            "Regenerate…",
        ]
        assert [argument(action) for action in ours[:2]] == [{"hunkIds": [hunk["hunkId"]]}] * 2
        assert [action["kind"] for action in actions] == ["quickfix"] * 2 + ["refactor.rewrite.tark"] * 2
        assert "-line 3\n+THREE\n" in argument(actions[2])["context"][0]["text"]
    else:
        assert [title.split(":")[0] for title in titles(actions)] == ["Reject", "Allow"]


async def test_never_preferred_where_the_editor_does_not_know_it(make: MakeDesk) -> None:
    desk = make(LITERALS)
    path = desk.editor.open("f.py", TEXT)
    await pending(desk, path)
    assert not any("isPreferred" in action for action in await desk.actions(path, 3))


async def test_a_hunk_is_hovered_and_has_lenses(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED, tark=["updates", "permission"])
    path = desk.editor.open("f.py", TEXT)
    await pending(desk, path)
    document = incoming.DocumentId(uri=path.as_uri())
    lenses = await desk.app.lenses(lsp_params.DocumentParams(text_document=document))
    assert [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses][:2] == [
        (3, "Accept (+1 -1)"),
        (3, "Reject (+1 -1)"),
    ]
    for line, expected in ((2, False), (3, True), (4, False)):
        position = incoming.Position(line=line, character=0)
        hover = await desk.app.hover(lsp_params.HoverParams(text_document=document, position=position))
        assert (hover is not None) == expected
        if hover is not None:
            assert "```diff\n-line 3\n+THREE\n```" in hover["contents"]["value"]


async def test_who_reviews_draws_hunks_itself(make: MakeDesk) -> None:
    desk = make(LITERALS, tark=["updates", "permission", "review"])
    path = desk.editor.open("f.py", TEXT)
    await desk.end(await desk.start("edit f.py", path))
    document = incoming.DocumentId(uri=path.as_uri())
    assert await desk.app.lenses(lsp_params.DocumentParams(text_document=document)) == []
    assert "textDocument/publishDiagnostics" not in [method for method, _ in desk.connection.told]
    assert "Keep (+1 -1)" in titles(await desk.actions(path, 3)), "its edit is applied"


# Permissions


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("make", ["Reject: run make", "Allow: run make"]),
        ("x" * 116, ["Reject: ", "Allow: run " + "x" * 116]),
        ("x" * 117, ["Show… ", "Reject: "]),
        ("x" * 400, ["Show… ", "Reject: "]),
    ],
)
async def test_a_title_holds_the_whole_of_what_it_allows(make: MakeDesk, command: str, offered: list[str]) -> None:
    desk = make(LITERALS, PREFERRED, "window.showDocument.support")
    desk.connection.answers["window/showDocument"] = lambda _: {"success": True}
    path = desk.editor.open("f.py", TEXT)
    await desk.start(f"run {command}")
    request = await desk.connection.asking(ASK)
    actions = await desk.actions(path, 0, triggerKind=2)
    assert len(actions) == len(offered)
    for action, start in zip(actions, offered, strict=True):
        assert action["title"].startswith(start)
        assert action["kind"] == "refactor.rewrite.tark"
        assert "isPreferred" not in action
        if "Show" not in start:
            assert (argument(action)["requestId"], argument(action)["digest"]) == (
                request["requestId"],
                request["digest"],
            )
    if "Show… " in offered:
        await desk.command("tark.permission.list", argument(actions[0]))
        after = await desk.actions(path, 0, triggerKind=2)
        assert any(title.startswith("Allow: run xx") for title in titles(after)), "it was shown whole"


async def test_the_action_answers(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED)
    path = desk.editor.open("f.py", TEXT)
    turn = await desk.start("run touch made")
    await desk.connection.asking(ASK)
    (reject,) = [action for action in await desk.actions(path, 0) if action["title"].startswith("Reject: ")]
    assert await desk.command("tark.permission.answer", argument(reject)) == {"accepted": True}
    assert (await desk.end(turn))["stopReason"] == "end_turn"
    assert not (desk.folder / "made").exists()
    assert desk.connection.withdrawn == [ASK]


async def test_the_last_answer(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED)
    path = desk.editor.open("f.py", TEXT)
    turn = await desk.start("hello")
    await desk.end(turn)
    (action,) = [action for action in await desk.actions(path, 0) if action["title"] == "Show last answer"]
    assert argument(action) == {"turnId": turn, "show": True}
    assert (await desk.command("tark.turn.wait", argument(action)))["text"] == "Hello."
    assert "Hello." in desk.connection.notes()[-1]


# Hunks in several files


async def two_files(desk: Desk, *, both_open: bool) -> tuple[Path, Path]:
    """f.py, open, and g.py, with a hunk each, of one turn whose question is not open any more."""
    path, other = desk.editor.open("f.py", TEXT), desk.editor.open("g.py", TEXT)
    documents, reviews = desk.app.parts.documents, desk.app.parts.reviews
    turn = await desk.start("hello")
    await desk.end(turn)
    if not both_open:
        desk.editor.close(other)
    edits = []
    for item in (path, other):
        document = documents.at(item)
        base = desk.editor.workspace.read(item) if document is None else document.snapshot()
        edits.append((ProposedEdit.between(base, TEXT.replace("line 3\n", "THREE\n")), ()))
    reviews.add_proposal(turn, edits)
    return path, other


@pytest.mark.parametrize("both_open", [True, False])
async def test_all_of_a_turn_where_nothing_is_written_unseen(make: MakeDesk, both_open: bool) -> None:
    desk = make(LITERALS)
    path, other = await two_files(desk, both_open=both_open)
    offered = titles(await desk.actions(path, 3, triggerKind=2))
    assert ("Accept all 2 in 2 files" in offered) == both_open
    assert "Reject all 2 in 2 files" in offered
    away = titles(await desk.actions(path, 8))
    assert "Reject all 2 in 2 files" in away, "from where nothing is to be decided"
    assert not any("in 2 files" in title for title in titles(await desk.actions(path, 8, triggerKind=2))), (
        "no lightbulb"
    )
    (reject,) = [action for action in await desk.actions(path, 8) if action["title"].startswith("Reject all")]
    assert len((await desk.command("tark.hunk.reject", argument(reject)))["hunks"]) == 2
    assert not any("in 2 files" in title for title in titles(await desk.actions(path, 8)))
    assert other.read_text() == TEXT


async def test_the_list_holds_closed_files(make: MakeDesk) -> None:
    desk = make(LITERALS, tark=())
    path, other = await two_files(desk, both_open=False)
    told = [params for method, params in desk.connection.told if method == "textDocument/publishDiagnostics"]
    listed = {params["uri"]: params for params in told}
    assert listed[path.as_uri()]["version"] == 1
    assert "version" not in listed[other.as_uri()]
    for params in listed.values():
        (shown,) = params["diagnostics"]
        assert shown["message"] == "Tark proposes (+1 -1): THREE"
        assert (shown["severity"], shown["source"], shown["code"]) == (3, "tark", "hunk")


async def test_several_hunks_of_a_file(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED)
    path = desk.editor.open("f.py", TEXT)
    document = desk.app.parts.documents.at(path)
    assert document is not None
    after = TEXT.replace("line 1\n", "ONE\n").replace("line 8\n", "")
    desk.app.parts.reviews.add_proposal("turn", [(ProposedEdit.between(document.snapshot(), after), ())])
    actions = await desk.actions(path, 1, triggerKind=2)
    assert titles(actions) == [
        "Accept (+1 -1)",
        "Reject (+1 -1)",
        "Explain this change",
        "Regenerate…",
        "Accept all 2 in this file",
        "Reject all 2 in this file",
    ]
    assert [action.get("isPreferred", False) for action in actions] == [True, *[False] * 5]
    assert titles(await desk.actions(path, 8, triggerKind=2))[0] == "Accept (+0 -1)"
    only = await desk.actions(path, 1, triggerKind=2, only=["quickfix"])
    assert titles(only) == [*titles(actions)[:2], *titles(actions)[4:]]
    await desk.command("tark.hunk.accept", argument(actions[4]))
    assert desk.editor.text(path) == after


async def test_what_becomes_of_a_file_is_offered(make: MakeDesk) -> None:
    desk = make(LITERALS, PREFERRED)
    path, other = desk.editor.open("f.py", TEXT), desk.editor.open("g.py", TEXT)
    bases = {document.path: document.snapshot() for document in desk.app.parts.documents if document.path}
    moved = ProposedEdit(other, bases[other], (), target=desk.folder / "lib" / "h.py")
    desk.app.parts.reviews.add_proposal("turn", [(ProposedEdit.removal(bases[path]), ()), (moved, ())])
    removal, move = [await desk.actions(item, 0, triggerKind=2) for item in (path, other)]
    assert titles(removal)[:2] == ["Accept deletion of f.py (+0 -10)", "Reject deletion of f.py (+0 -10)"]
    assert titles(move)[:2] == ["Accept move to lib/h.py", "Reject move to lib/h.py"]
    for actions in (removal, move):
        assert not any("Regenerate" in title for title in titles(actions))
        assert not any("isPreferred" in action for action in actions)
    kinds = [hunk["operation"] for hunk in (await desk.command("tark.hunk.list", {}))["hunks"]]
    assert kinds == [{"kind": "remove"}, {"kind": "move", "target": (desk.folder / "lib" / "h.py").as_uri()}]
    for hunk in (await desk.command("tark.hunk.list", {}))["hunks"]:
        with pytest.raises(RequestError):
            await desk.command("tark.hunk.edit", {"hunkId": hunk["hunkId"], "newText": "x\n"})
