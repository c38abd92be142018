"""`tark.codeBlock.apply` through the whole server: what is applied, how it is reviewed, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.folders import mask_key_path
from tark_lsp.secrets.masks import SecretMasks
from tark_lsp.server.turns.mask_key import read_mask_key
from tests.cases import cases
from tests.secrets.keys import github_token
from tests.server.desk import Desk, MakeDesk, allow

pytestmark = pytest.mark.virtual_clock

ASK = "tark/requestPermission"
IN_PLACE = ("updates", "permission", "review")
TEXT = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
AFTER = TEXT.replace("return 2", "return 22")
BLOCK = "def two():\n    return 22\n"
DIFF = "--- a/f.py\n+++ b/f.py\n@@ -5,2 +5,2 @@\n def two():\n-    return 2\n+    return 22\n"


async def apply(desk: Desk, text: str, **more: Any) -> tuple[Any, Any]:
    """The answer and the turn's end, if a turn began."""
    answer = await desk.command("tark.codeBlock.apply", {"text": text, **more})
    return answer, await desk.end(answer["turnId"]) if "turnId" in answer else None


def asked(desk: Desk) -> bool:
    return ASK in [method for method, _ in desk.connection.asked]


@pytest.mark.parametrize(
    ("block", "language"),
    [
        (BLOCK, "python"),
        (DIFF, "diff"),
        (DIFF.partition("@@")[2].replace(" -5,2 +5,2", "@@"), "diff"),
        ("<<<<<<< SEARCH\n    return 2\n=======\n    return 22\n>>>>>>> REPLACE\n", "python"),
    ],
    ids=["definition", "diff", "nameless diff", "search and replace"],
)
async def test_a_block_is_applied_without_a_model(make: MakeDesk, block: str, language: str) -> None:
    """It waits as an ordinary hunk; the turn asks no model, and can be undone and done again. No mode prevents it."""
    desk = make(tark=IN_PLACE, config='mode = "ask"')
    path = desk.editor.open("f.py", TEXT)
    answer, end = await apply(desk, block, language=language, path="f.py")
    assert (end["stopReason"], end["edits"][0]["state"], asked(desk)) == ("end_turn", "applied", False)
    assert desk.editor.text(path) == AFTER
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (hunk["turnId"], hunk["state"], hunk["applied"]) == (answer["turnId"], "pending", True)
    assert end["usage"]["inputTokens"] == 0
    await desk.command("tark.turn.undo", {"turnId": answer["turnId"]})
    assert desk.editor.text(path) == TEXT
    await desk.command("tark.turn.redo", {"turnId": answer["turnId"]})
    assert desk.editor.text(path) == AFTER
    session = await desk.command("tark.session.open", {"sessionId": answer["sessionId"]})
    assert [message["role"] for message in session["messages"]] == ["user", "assistant"]
    after = await desk.end(await desk.start("go on", sessionId=answer["sessionId"]))
    assert (after["stopReason"], after["usage"]["inputTokens"] > 0) == ("end_turn", True)


async def test_a_block_with_the_token_of_a_secret(make: MakeDesk) -> None:
    """The file gets the secret back; what the model of the next turn is told has only the token."""
    desk = make(tark=IN_PLACE)
    text = f'def two():\n    token = "{github_token()}"\n    return 2\n'
    path = desk.editor.open("f.py", text)
    masked = SecretMasks(read_mask_key(mask_key_path)).mask_file(path, text).text
    answer, end = await apply(desk, masked.replace("return 2", "return 22"), path="f.py")
    assert end["edits"][0]["state"] == "applied"
    assert desk.editor.text(path) == text.replace("return 2", "return 22")
    session = await desk.command("tark.session.open", {"sessionId": answer["sessionId"]})
    assert github_token() not in json.dumps(session["messages"])


async def test_without_a_model_there_is_nothing_to_ask_for(make: MakeDesk) -> None:
    desk = make(tark=IN_PLACE)
    desk.config.write_text("")
    desk.app.parts.configuration.reload()
    path = desk.editor.open("f.py", TEXT)
    _, end = await apply(desk, BLOCK, uris=[path.as_uri()])
    assert (end["stopReason"], desk.editor.text(path)) == ("end_turn", AFTER)


@pytest.mark.parametrize(
    ("config", "name"),
    [("workspaceTrusted = false", "f.py"), ('editReview = "ask"', "f.py"), ("", ".vscode/tasks.py")],
    ids=["untrusted", "asking", "protected"],
)
async def test_it_asks_where_an_edit_of_the_agent_asks(make: MakeDesk, config: str, name: str) -> None:
    desk = make(tark=IN_PLACE, config=config)
    (desk.folder / name).parent.mkdir(exist_ok=True)
    path = desk.editor.open(name, TEXT)
    desk.connection.answers[ASK] = allow
    _, end = await apply(desk, BLOCK, path=name)
    assert (asked(desk), end["edits"][0]["state"], desk.editor.text(path)) == (True, "applied", AFTER)


async def test_a_new_file(make: MakeDesk) -> None:
    desk = make(tark=IN_PLACE)
    answer, _ = await apply(desk, BLOCK, path="new/g.py")
    assert answer["problem"] == {"code": "missing", "message": "new/g.py does not exist"}
    _, end = await apply(desk, BLOCK, path="new/g.py", create=True)
    assert (end["edits"][0]["state"], (desk.folder / "new/g.py").read_text()) == ("applied", BLOCK)


async def test_which_of_several_files(make: MakeDesk) -> None:
    """The one into which the block certainly fits."""
    desk = make(tark=IN_PLACE)
    one = desk.editor.open("one.py", "def one():\n    return 1\n")
    two = desk.editor.open("two.py", TEXT)
    answer, _ = await apply(desk, BLOCK, uris=[one.as_uri(), two.as_uri()])
    assert (desk.editor.text(two), "problem" in answer) == (AFTER, False)
    answer, _ = await apply(desk, "def one():\n    return 0\n", uris=[one.as_uri(), two.as_uri(), one.as_uri()])
    assert "it fits into several files" in answer["problem"]["message"]
    answer, _ = await apply(desk, "def three():\n    return 0\n", uris=[one.as_uri(), two.as_uri()])
    assert "does not say which file" in answer["problem"]["message"]


@pytest.fixture
def hostile(make: MakeDesk, tmp_path: Path) -> Desk:
    desk = make(tark=IN_PLACE, config='[permissions]\ndeny = ["read_file(hidden.py)"]\nask = ["read_file(asked.py)"]')
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f.py").write_text(TEXT)
    (desk.folder / "link").symlink_to(outside)
    (desk.folder / "twice.txt").write_text("x\ny\nx\n")
    (desk.folder / "data.py").write_bytes(b"\0\1\2")
    for name in ("f.py", "hidden.py", "asked.py"):
        (desk.folder / name).write_text(TEXT)
    return desk


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"path": "../../etc/passwd"}, "refused", "is outside the workspace"),
    ({"path": "../outside/f.py"}, "refused", "is outside the workspace"),
    ({"path": "link/f.py"}, "refused", "is outside the workspace"),
    ({"path": "link/new.py"}, "refused", "is outside the workspace"),
    ({"path": "/etc/passwd"}, "refused", "is outside the workspace"),
    ({"path": "file:///etc/passwd"}, "refused", "is not the path of a file"),
    ({"path": "C:\\Windows\\win.ini"}, "refused", "is not the path of a file"),
    ({"path": "\\\\host\\share\\f.py"}, "refused", "is not the path of a file"),
    ({"path": "a\0b"}, "refused", "is outside the workspace"),
    ({"path": "x" * 5000}, "refused", "is outside the workspace"),
    ({"path": "hidden.py"}, "refused", "a rule keeps"),
    ({"path": "asked.py"}, "refused", "a rule keeps"),
    ({"path": "data.py"}, "refused", "binary"),
    ({"path": "."}, "refused", "directory"),
    ({"path": "link"}, "refused", "is outside the workspace"),
    ({"uris": ["untitled:Untitled-1"]}, "refused", "is not a file"),
    ({"uris": ["file:///etc/passwd"]}, "refused", "is outside the workspace"),
    ({}, "inexact", "does not say which file"),
    ({"path": "f.py", "text": TEXT}, "unchanged", "f.py has this code already"),
    ({"path": "f.py", "text": BLOCK.replace("22", "2")}, "unchanged", "f.py has this code already"),
    (
        {"path": "f.py", "text": "def two():\n    # ... existing code ...\n    return 3\n"},
        "inexact",
        "cannot be applied",
    ),
    ({"text": DIFF.replace("f.py", "../outside/f.py")}, "refused", "outside the workspace"),
    ({"text": DIFF.replace("f.py", "hidden.py")}, "refused", "hidden.py"),
    ({"text": DIFF.replace("return 2\n", "return 7\n")}, "does_not_fit", "cannot be applied"),
    ({"text": DIFF.replace("f.py", "no.py")}, "does_not_fit", "no.py"),
    (
        {"path": "twice.txt", "text": "<<<<<<< SEARCH\nx\n=======\nx\n>>>>>>> REPLACE\n"},
        "inexact",
        "the text that it replaces is there several times",
    ),
    ({"path": "f.py", "text": "x = 1\n" * 100_000}, "inexact", "not certain"),
    ({"path": "f.py", "text": "(" * 900_000}, "inexact", "not certain"),
]


async def test_what_is_not_applied(hostile: Desk) -> None:
    with cases() as case:
        for request, code, words in REFUSED:
            with case(str(request)[:80]):
                answer, _ = await apply(hostile, **{"text": BLOCK, "create": True, **request})
                assert answer["problem"]["code"] == code
                assert words in answer["problem"]["message"]
    assert {file.read_text() for file in hostile.folder.glob("*.py") if file.name != "data.py"} == {TEXT}
    assert (await hostile.command("tark.session.list", {}))["sessions"] == []
    with pytest.raises(RequestError, match="text"):
        await apply(hostile, "x" * 2_000_000, path="f.py")
