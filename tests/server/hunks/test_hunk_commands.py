"""`tark.hunk.edit` and `.regenerate`, and what you can do about a conflict, which keeps what you wrote."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.server.hunks.moved_hunks import PAUSE_SECONDS
from tark_lsp.server.protocol import incoming, lsp_params
from tests.server.desk import TEXT, Desk, MakeDesk, allow

pytestmark = pytest.mark.virtual_clock

ASK, INPUT = "tark/requestPermission", "tark/requestInput"
SCENARIO = '''\
wire = "anthropic-messages"

[[reply]]
tool = "replace_selection"
text = "Replaced."

[[reply]]
tool = "edit_file"
text = "Edited."

[[reply]]
tool = "write_file"
text = "Written."

[[reply]]
when = '(?s)for before:\\nreplace f.py.*rejected, of the selected lines:\\n-line 3\\n\\+THREE\\n.*says:\\s+(?P<how>.*)'
calls = [{ name = "replace_selection", arguments = { new_text = 'line 3, \\g<how>' } }]

[[reply]]
when = '(?s)asked for before:\\nadd to f.py.*nothing is selected:\\n\\+3.5\\n.*says:\\s+Make this change again'
calls = [{ name = "replace_selection", arguments = { new_text = "3.7\\n" } }]

[[reply]]
when = '(?s)asked for before:\\nmake new.py.*rejected, in file:///\\S*new.py:\\n\\+one\\n.*says:\\s+shorter'
calls = [{ name = "write_file", arguments = { path = "new.py", content = "1\\n" } }]

[[reply]]
when = 'says:\\s+replace f.py'
calls = [{ name = "edit_file", arguments = { path = "f.py", old_text = "line 3\\n", new_text = "THREE\\n" } }]

[[reply]]
when = 'says:\\s+add to f.py'
calls = [{ name = "edit_file", arguments = { path = "f.py", old_text = "line 3\\n", new_text = "line 3\\n3.5\\n" } }]

[[reply]]
when = 'says:\\s+make new.py'
calls = [{ name = "write_file", arguments = { path = "new.py", content = "one\\n" } }]

[[reply]]
tool = "apply_patch"
text = "Patched."

[[reply]]
when = 'says:\\s+patch two'
calls = [{ name = "apply_patch", arguments = { patch = """*** Begin Patch
*** Update File: f.py
@@
-line 3
+THREE
*** Update File: g.py
@@
-line 3
+THREE
*** End Patch""" } }]

[[reply]]
text = "There is nothing to do."
'''
LITERALS = "textDocument.codeAction.codeActionLiteralSupport"


@pytest.fixture
def desk(make: MakeDesk, tmp_path: Path) -> Desk:
    desk = make(LITERALS)
    (tmp_path / "home" / "scenario.toml").write_text(SCENARIO)
    return desk


async def one_hunk(desk: Desk, prompt: str) -> dict[str, Any]:
    await desk.start(prompt)
    await desk.connection.asking(ASK)
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert "reason" not in hunk
    return dict(hunk)


async def regenerated(desk: Desk, hunk: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The hunk of the turn, while its question is open."""
    questions = len([method for method, _ in desk.connection.asked if method == ASK])
    turn = (await desk.command("tark.hunk.regenerate", {"hunkId": hunk["hunkId"], **more}))["turnId"]
    await desk.connection.asking(ASK, questions + 1)
    (new,) = (await desk.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    return dict(new)


async def test_the_lines_are_written_anew(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunk = await one_hunk(desk, "replace f.py")
    new = await regenerated(desk, hunk, prompt="louder")
    assert (new["oldText"], new["newText"], new["outsideSelection"]) == ("line 3\n", "line 3, louder\n", False)
    states = {item["hunkId"]: item["state"] for item in (await desk.command("tark.hunk.list", {}))["hunks"]}
    assert states == {hunk["hunkId"]: "rejected", new["hunkId"]: "pending"}
    await desk.command("tark.hunk.accept", {"hunkIds": [new["hunkId"]]})
    await desk.end(new["turnId"])
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "line 3, louder\n")


async def test_lines_added_stay_between_the_others(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    new = await regenerated(desk, await one_hunk(desk, "add to f.py"))
    assert (new["oldText"], new["newText"], new["outsideSelection"]) == ("", "3.7\n", False)
    await desk.command("tark.hunk.accept", {"hunkIds": [new["hunkId"]]})
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "line 3\n3.7\n")


async def test_what_is_applied_is_taken_back_first(make: MakeDesk, tmp_path: Path) -> None:
    desk = make(config='approval = "balanced"\neditReview = "after"')
    (tmp_path / "home" / "scenario.toml").write_text(SCENARIO)
    path = desk.editor.open("f.py", TEXT)
    turn = await desk.start("replace f.py")
    await desk.end(turn)
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "THREE\n")
    (hunk,) = (await desk.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    again = (await desk.command("tark.hunk.regenerate", {"hunkId": hunk["hunkId"], "prompt": "louder"}))["turnId"]
    await desk.end(again)
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "line 3, louder\n")
    (new,) = (await desk.command("tark.hunk.list", {"turnId": again}))["hunks"]
    await desk.command("tark.hunk.reject", {"hunkIds": [new["hunkId"]]})
    assert desk.editor.text(path) == TEXT


async def test_a_new_file_is_written_anew(desk: Desk) -> None:
    new = await regenerated(desk, await one_hunk(desk, "make new.py"), prompt="shorter")
    assert new["newText"] == "1\n"
    await desk.command("tark.hunk.accept", {"hunkIds": [new["hunkId"]]})
    assert (desk.folder / "new.py").read_text() == "1\n"


async def test_the_action_asks_for_words(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    desk.connection.answers[INPUT] = lambda _: {"answer": "louder"}
    await one_hunk(desk, "replace f.py")
    (action,) = [item for item in await desk.actions(path, 3) if item["title"] == "Regenerate…"]
    turn = (await desk.command("tark.hunk.regenerate", action["command"]["arguments"][0]))["turnId"]
    await desk.connection.asking(ASK, 2)
    (new,) = (await desk.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert new["newText"] == "line 3, louder\n"


async def test_a_comment_above_is_the_prompt_and_goes(make: MakeDesk, tmp_path: Path) -> None:
    """Without an input box."""
    desk = make(LITERALS, tark=["updates", "permission"])
    (tmp_path / "home" / "scenario.toml").write_text(SCENARIO)
    path = desk.editor.open("f.py", TEXT)
    await one_hunk(desk, "replace f.py")
    assert "Regenerate this change" in [item["title"] for item in await desk.actions(path, 3)]
    at = TEXT.index("line 3")
    desk.editor.type(path, (at, at, "# tark: louder\n"))
    (action,) = [item for item in await desk.actions(path, 4) if item["title"] == "Regenerate: louder"]
    desk.connection.answers[ASK] = allow
    turn = (await desk.command("tark.hunk.regenerate", action["command"]["arguments"][0]))["turnId"]
    await desk.end(turn)
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "line 3, louder\n")


async def test_what_is_decided_stays_so(desk: Desk) -> None:
    desk.editor.open("f.py", TEXT)
    hunk = await one_hunk(desk, "replace f.py")
    await desk.command("tark.hunk.accept", {"hunkIds": [hunk["hunkId"]]})
    with pytest.raises(RequestError, match="accepted already"):
        await desk.command("tark.hunk.regenerate", {"hunkId": hunk["hunkId"]})


# tark.hunk.edit


async def test_other_lines_are_accepted_instead(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunk = await one_hunk(desk, "replace f.py")
    answer = await desk.command("tark.hunk.edit", {"hunkId": hunk["hunkId"], "newText": "three\n3b\n"})
    assert answer == {"hunkId": hunk["hunkId"]}
    assert desk.editor.text(path) == TEXT, "nothing is applied yet"
    await desk.command("tark.hunk.accept", {"hunkIds": [hunk["hunkId"]]})
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "three\n3b\n")
    with pytest.raises(RequestError, match="accepted already"):
        await desk.command("tark.hunk.edit", {"hunkId": hunk["hunkId"], "newText": ""})


# Conflicts


async def in_conflict(desk: Desk, language: str = "python") -> tuple[Path, str, dict[str, Any]]:
    """A document, its text, and a hunk whose line the user changed; the turn ended then."""
    path = desk.editor.open("f.py", TEXT, language=language)
    hunk = await one_hunk(desk, "replace f.py")
    at = TEXT.index("line 3")
    desk.editor.type(path, (at, at + 4, "mine"))
    await desk.command("tark.hunk.accept", {"hunkIds": [hunk["hunkId"]]})
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (hunk["state"], hunk["reason"]) == ("conflict", "you changed these lines")
    return path, desk.editor.text(path), hunk


async def problems(desk: Desk) -> list[dict[str, Any]]:
    """The list when it is up to date."""
    await asyncio.sleep(2 * PAUSE_SECONDS)
    told = [params for method, params in desk.connection.told if method == "textDocument/publishDiagnostics"]
    return list(told[-1]["diagnostics"])


def offered(actions: list[dict[str, Any]], start: str) -> dict[str, Any]:
    (found,) = [action for action in actions if action["title"].startswith(start)]
    return dict(found["command"])


async def test_a_conflict_in_markdown_is_not_shown_as_markdown(desk: Desk) -> None:
    """Neovim's Markdown parser crashes on deeply nested text."""
    path, *_ = await in_conflict(desk, "markdown")
    at = lsp_params.HoverParams(
        text_document=incoming.DocumentId(uri=path.as_uri()), position=incoming.Position(line=3, character=0)
    )
    hover = await desk.app.hover(at)
    assert hover is not None
    assert "```\nmine 3\n```" in hover["contents"]["value"]


async def test_a_conflict_shows_both_texts_and_keeps_mine(desk: Desk) -> None:
    path, text, hunk = await in_conflict(desk)
    assert hunk["range"] == {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}}
    (shown,) = await problems(desk)
    assert (shown["severity"], shown["code"], shown["range"]) == (2, "conflict", hunk["range"])
    assert "your text is kept" in shown["message"]
    position = incoming.Position(line=3, character=0)
    document = incoming.DocumentId(uri=path.as_uri())
    hover = await desk.app.hover(lsp_params.HoverParams(text_document=document, position=position))
    assert hover is not None
    assert "```python\nmine 3\n```" in hover["contents"]["value"]
    assert "```python\nTHREE\n```" in hover["contents"]["value"]
    actions = await desk.actions(path, 3, triggerKind=2)
    assert [action["title"].split(" (")[0] for action in actions] == [
        "Use Tark's lines",
        "Keep mine",
        "Explain this change",
        "Regenerate…",
    ]
    keep = offered(actions, "Keep mine")
    assert (await desk.command(keep["command"], keep["arguments"][0]))["skipped"] == []
    assert desk.editor.text(path) == text
    assert await problems(desk) == []
    assert await desk.actions(path, 3, triggerKind=2) == []


async def test_the_lines_of_a_conflict_can_still_be_had(desk: Desk) -> None:
    """In place of what the user wrote there, which they can see."""
    path, _, hunk = await in_conflict(desk)
    use = offered(await desk.actions(path, 3), "Use Tark's lines")
    assert await desk.command(use["command"], use["arguments"][0]) == {"hunkId": hunk["hunkId"]}
    assert desk.editor.text(path) == TEXT.replace("line 3\n", "THREE\n")


async def test_a_conflict_is_written_anew_over_mine(desk: Desk) -> None:
    path, text, hunk = await in_conflict(desk)
    new = await regenerated(desk, hunk, prompt="louder")
    assert (new["oldText"], new["newText"]) == ("mine 3\n", "line 3, louder\n")
    await desk.command("tark.hunk.accept", {"hunkIds": [new["hunkId"]]})
    assert desk.editor.text(path) == text.replace("mine 3\n", "line 3, louder\n")


async def test_of_another_turns_change_it_is_not_said_that_the_person_made_it(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunk = await one_hunk(desk, "replace f.py")
    await desk.start("replace f.py")
    await desk.connection.asking(ASK, 2)
    await desk.command("tark.hunk.accept", {"hunkIds": [hunk["hunkId"]]})
    (shown,) = await problems(desk)
    told = "another change was made to these lines, and the text there is kept"
    assert shown["message"].startswith(f"conflict: {told}; Tark wanted")
    document = incoming.DocumentId(uri=path.as_uri())
    hover = await desk.app.hover(
        lsp_params.HoverParams(text_document=document, position=incoming.Position(line=3, character=0))
    )
    assert hover is not None
    assert told in hover["contents"]["value"]


# Groups


async def in_patch(desk: Desk) -> list[dict[str, Any]]:
    await desk.start("patch two")
    await desk.connection.asking(ASK)
    return list((await desk.command("tark.hunk.list", {}))["hunks"])


async def test_titles_say_what_is_decided_together(desk: Desk) -> None:
    paths = [desk.editor.open(name, TEXT) for name in ("f.py", "g.py")]
    await in_patch(desk)
    actions = await desk.actions(paths[0], 3, triggerKind=2)
    titles = [action["title"] for action in actions]
    assert titles[:3] == [
        "Accept (+1 -1, 2 files together)",
        "Reject (+1 -1, 2 files together)",
        "Explain this change",
    ]
    assert not [title for title in titles if title.startswith("Regenerate")]
    accept = offered(actions, "Accept (")
    await desk.command(accept["command"], accept["arguments"][0])
    assert [desk.editor.text(path) for path in paths] == [TEXT.replace("line 3", "THREE")] * 2


async def test_a_list_says_which_document_each_is_of(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (desk.folder / "g.py").write_text(TEXT)
    found = await in_patch(desk)
    closed = (desk.folder / "g.py").as_uri()
    document = desk.editor.documents.find_document(path.as_uri())
    assert document is not None
    assert [(item["uri"], item["version"]) for item in found] == [(path.as_uri(), document.version), (closed, None)]
    assert document.version is not None
    (alone,) = (await desk.command("tark.hunk.list", {"uri": closed}))["hunks"]
    assert alone == found[1]


async def test_one_of_them_is_not_written_anew(desk: Desk) -> None:
    for name in ("f.py", "g.py"):
        desk.editor.open(name, TEXT)
    hunks = await in_patch(desk)
    with pytest.raises(RequestError, match="decided together with others"):
        await desk.command("tark.hunk.regenerate", {"hunkId": hunks[0]["hunkId"]})
    assert {hunk["state"] for hunk in (await desk.command("tark.hunk.list", {}))["hunks"]} == {"pending"}


async def test_a_part_in_a_closed_file_is_to_be_seen_first(make: MakeDesk, tmp_path: Path) -> None:
    desk = make(LITERALS, tark=())
    (tmp_path / "home" / "scenario.toml").write_text(SCENARIO)
    path = desk.editor.open("f.py", TEXT)
    (desk.folder / "g.py").write_text(TEXT)
    await desk.start("patch two")
    await desk.connection.asking("window/showMessageRequest")
    titles = [action["title"] for action in await desk.actions(path, 3, triggerKind=2)]
    assert "Reject (+1 -1, 2 files together)" in titles
    assert not [title for title in titles if title.startswith("Accept")]


async def test_a_patch_is_tried_again_though_a_file_of_it_is_closed(desk: Desk) -> None:
    path, closed = desk.editor.open("f.py", TEXT), desk.folder / "g.py"
    closed.write_text(TEXT)
    hunks = await in_patch(desk)
    desk.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    await desk.command("tark.hunk.accept", {"hunkIds": [hunks[0]["hunkId"]]})
    assert closed.read_text() == TEXT
    desk.connection.answers["workspace/applyEdit"] = desk.editor.apply
    again = offered(await desk.actions(path, 3), "Try again (+1 -1, 2 files together)")
    await desk.command(again["command"], again["arguments"][0])
    assert [desk.editor.text(path), closed.read_text()] == [TEXT.replace("line 3", "THREE")] * 2


# Refused


async def test_what_was_refused_is_tried_again_by_its_action(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunk = await one_hunk(desk, "replace f.py")
    desk.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    await desk.command("tark.hunk.accept", {"hunkIds": [hunk["hunkId"]]})
    desk.connection.answers["workspace/applyEdit"] = desk.editor.apply
    again = offered(await desk.actions(path, 3), "Try again")
    assert again["command"] == "tark.hunk.accept"
    await desk.command(again["command"], again["arguments"][0])
    assert desk.editor.text(path) == TEXT.replace("line 3", "THREE")
