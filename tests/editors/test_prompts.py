"""Named prompts and mentions over a real server: by kind, code action and `/name` in a chat; each kind of mention."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json, ResponseError
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import environment, write_settings
from tests.editors.question import Policy, allow, reject
from tests.editors.shapes import SHAPES
from tests.loopback import Loopback, Raw

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

SCENARIO = Path(__file__).with_name("prompts.toml")
ON_LOOPBACK = (sys.executable, "-m", "tests.editors.serve_on_loopback")
PROMPT = "---\ntitle: Review\nkind: ask\n---\nReview $ARGUMENTS\n"


def write(editor: MemoryEditor, name: str, text: str) -> Path:
    path = editor.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def area(editor: MemoryEditor, uri: str) -> Json:
    """Its two lines."""
    start = editor.documents[uri].find("def area")["start"]["line"]
    return {"start": {"line": start, "character": 0}, "end": {"line": start + 2, "character": 0}}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
async def test_a_named_prompt(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor.fresh(profile, *NATIVE, scenario=SCENARIO)
    write(editor, ".tark/prompts/review.md", PROMPT)
    uri = editor.open(write(editor, "shapes.py", SHAPES))

    started = await editor.command("tark.turn.start", {"prompt": "names", "kind": "review"})
    assert (await editor.end(started["turnId"]))["text"] == "Reviewed names"

    actions = await editor.actions(uri, area(editor, uri))
    (action,) = [item for item in actions if item["title"].startswith("Review ")]
    assert action["title"] == "Review (project's prompt, lines 6-7)"
    assert (await editor.end((await editor.run_action(action))["turnId"]))["text"] == "Reviewed area, "

    chat = editor.open(write(editor, "notes.tark.md", "## You\n\n/review the names\n"))
    end = editor.documents[chat].position(len(editor.text(chat)))
    (send,) = [item for item in await editor.actions(chat, {"start": end, "end": end}) if "Send" in item["title"]]
    assert send["title"] == "Send: /review the names"
    await editor.end((await editor.run_action(send))["turnId"])
    await editor.connection.until(lambda: "\nReviewed the names\n\n## You\n" in editor.text(chat), "the answer", 15)

    (known,) = (await editor.command("tark.state"))["prompts"]
    assert (known["name"], known["source"], known["needsSelection"]) == ("review", "workspace", False)
    with pytest.raises(ResponseError, match="no kind 'reviews'"):
        await editor.command("tark.turn.start", {"prompt": "", "kind": "reviews"})


async def test_completion_of_names(open_editor: OpenEditor) -> None:
    editor = await open_editor.fresh(NEOVIM, scenario=SCENARIO)
    write(editor, ".tark/prompts/review.md", PROMPT)
    chat = editor.open(write(editor, "notes.tark.md", "## You\n\n/re"))
    where = {"textDocument": {"uri": chat}, "position": {"line": 2, "character": 3}}
    found = await editor.request("textDocument/completion", where)
    assert "/review" in [item["label"] for item in found["items"]]


@pytest_asyncio.fixture(loop_scope="session")
async def reaching_loopback(tmp_path: Path) -> AsyncIterator[MemoryEditor]:
    """An editor whose server may fetch from loopback."""
    write_settings(tmp_path / "home", SCENARIO)
    (tmp_path / "workspace").mkdir()
    editor = MemoryEditor(PROFILES[1], frozenset(NATIVE))
    env = {**environment(tmp_path / "home"), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    await editor.start(ON_LOOPBACK, folder=tmp_path / "workspace", env=env)
    yield editor
    await editor.close()
    await editor.connection.stop()


MENTIONS = {
    "@file:shapes.py:6-7": "file: def area",
    "@dir:lib": "dir: solids.py",
    "@symbol:volume": "symbol: def volume(radius)",
    "@selection": "selection: shapes.py",
    "@diagnostics": "diagnostics: shapes.py:1:1:",
    "@diff": "diff: read_changes",
    "@file:none.py": "not there: file: ",
}


async def test_each_mention(reaching_loopback: MemoryEditor) -> None:
    editor = reaching_loopback
    uri = editor.open(write(editor, "shapes.py", SHAPES))
    write(editor, "lib/solids.py", "x = 1\n")
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    odd = {"range": span, "severity": 1, "message": "odd", "source": "other"}
    await editor.actions(uri, span, diagnostics=[odd])
    texts = {}
    for mention in MENTIONS:
        started = await editor.command("tark.turn.start", {"prompt": f"mention {mention}", "kind": "ask"})
        texts[mention] = (await editor.end(started["turnId"]))["text"]
    assert {mention: text[: len(MENTIONS[mention])] for mention, text in texts.items()} == MENTIONS


@pytest.mark.parametrize(("answer", "text", "asked"), [(allow, "url: # Shapes", 1), (reject, "not there: url: the", 0)])
async def test_a_page(reaching_loopback: MemoryEditor, answer: Policy, text: str, asked: int) -> None:
    editor = reaching_loopback
    page = Raw([b"<title>Shapes</title><p>round"], headers={"content-type": "text/html"})
    async with Loopback([], listing=page) as server:
        editor.policy = answer
        started = await editor.command("tark.turn.start", {"prompt": f"mention @url:{server.url}/page", "kind": "ask"})
        assert (await editor.end(started["turnId"], 30))["text"].startswith(text)
        assert len(server.requests) == asked
    (question,) = editor.questions
    assert question.text == f"fetch {server.url}/page"
