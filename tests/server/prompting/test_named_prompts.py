"""Named prompts in a server in this process: by kind, `/name` and code action, and the prompt that the model gets."""

from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.server.protocol import lsp_params
from tests.server.desk import Desk, MakeDesk

LITERALS = "textDocument.codeAction.codeActionLiteralSupport"
PROGRAM = "import math\n\n\ndef area(radius):\n    return radius\n"


def write(desk: Desk, name: str, text: str, *, own: bool = False) -> Path:
    folder = desk.config.parent / "prompts" if own else desk.folder / ".tark/prompts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def told(desk: Desk, turn_id: str) -> str:
    """The first message of the turn's session, as the model got it."""
    (update,) = desk.updates(turn_id, "end")
    session = desk.app.parts.sessions.rows.read_session(update["sessionId"])
    return session.messages[0].text


def kind_of(desk: Desk, turn_id: str) -> str:
    (update,) = desk.updates(turn_id, "start")
    return str(update["turnKind"])


async def ended(desk: Desk, **request: Any) -> str:
    turn_id = str((await desk.command("tark.turn.start", request))["turnId"])
    assert (await desk.end(turn_id))["stopReason"] == "end_turn"
    return turn_id


async def test_by_kind(make: MakeDesk) -> None:
    desk = make()
    write(desk, "review.md", "---\nkind: ask\n---\nReview $ARGUMENTS twice, see @file:style.md\n")
    (desk.folder / "style.md").write_text("Short names.\n")
    turn = await ended(desk, prompt="the shapes", kind="review")
    assert kind_of(desk, turn) == "review"
    prompt = told(desk, turn)
    assert prompt.startswith("Answer the person's question in words."), "the built-in kind it is based on"
    assert prompt.endswith("says:\n\nReview the shapes twice, see @file:style.md")
    assert "Short names." in prompt, "mentions in it count"
    assert desk.updates(turn, "start")[0]["prompt"] == "the shapes", "the person sees their own words"


@pytest.mark.parametrize(
    ("prompt", "kind", "says"),
    [
        ("/review the shapes", "review", "Review it.\n\nthe shapes"),
        ("/review", "review", "Review it."),
        (" \n/Review\nthe shapes", "review", "Review it.\n\nthe shapes"),
        ("/fix it", "fix", "it"),
        ("/explain", "explain", ""),
        ("/ask why?", "ask", "why?"),
        ("/test", "test", ""),
        ("/document all", "document", "all"),
        ("/etc/hosts is what?", "agent", "/etc/hosts is what?"),
        ("/nonesuch at all", "agent", "/nonesuch at all"),
        ("/review/this", "agent", "/review/this"),
        ("see /review", "agent", "see /review"),
        ("/", "agent", "/"),
        ("/review, please", "agent", "/review, please"),
    ],
)
async def test_by_slash(make: MakeDesk, prompt: str, kind: str, says: str) -> None:
    desk = make()
    write(desk, "review.md", "Review it.\n")
    turn = await ended(desk, prompt=prompt)
    assert kind_of(desk, turn) == kind
    assert told(desk, turn).partition("The person says:\n\n")[2] == says
    assert desk.updates(turn, "start")[0]["prompt"] == prompt


async def test_only_an_agents_words_call_by_slash(make: MakeDesk) -> None:
    desk = make()
    turn = await ended(desk, prompt="/fix it", kind="ask")
    assert kind_of(desk, turn) == "ask"
    assert told(desk, turn).endswith("/fix it")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"prompt": "/ask"}, "prompt: kind ask needs a prompt"),
        ({"prompt": "/edit shorter"}, "range: kind edit needs a selection"),
        ({"prompt": "", "kind": "shorten"}, "range: kind shorten needs a selection"),
        ({"prompt": "", "kind": "sharpen"}, "range: kind sharpen needs a selection"),
        ({"prompt": "", "kind": "nonesuch"}, "there is no kind 'nonesuch'"),
    ],
)
async def test_what_a_request_lacks(make: MakeDesk, request_: dict[str, Any], said: str) -> None:
    desk = make()
    write(desk, "shorten.md", "---\nkind: edit\n---\nShorten it.\n")
    write(desk, "sharpen.md", "---\nneedsSelection: true\n---\nSharpen it.\n")
    with pytest.raises(RequestError, match=said) as caught:
        await desk.command("tark.turn.start", request_)
    if "nonesuch" in said:
        assert "sharpen" in caught.value.hint, "the kinds there are"


async def test_code_actions(make: MakeDesk) -> None:
    desk = make(LITERALS)
    write(desk, "review.md", "---\ntitle: 'Fix (line 1)'\n---\nReview it.\n")
    write(desk, "sharpen.md", "---\ntitle: Sharpen [this](x)\n---\nSharpen it.\n", own=True)
    path = desk.editor.open("f.py", PROGRAM)
    actions = {action["title"]: action for action in await desk.actions(path, 4)}
    assert "Sharpen [this](x) (lines 4-5)" in actions
    theirs = actions["Fix (line 1) (project's prompt, lines 4-5)"]
    (argument,) = theirs["command"]["arguments"]
    assert (argument["kind"], argument["prompt"]) == ("review", "")
    assert theirs["kind"] == "refactor.rewrite.tark"
    turn = await ended(desk, **argument)
    prompt = told(desk, turn)
    assert prompt.endswith("says:\n\nReview it.")
    assert "def area(radius):" in prompt
    assert await desk.actions(path, 4, triggerKind=2) == [], "none for the lightbulb"


async def test_in_a_comment(make: MakeDesk) -> None:
    desk = make(LITERALS)
    write(desk, "review.md", "---\nneedsSelection: true\n---\nReview it.\n")
    path = desk.editor.open("f.py", f"# tark: /review for names\n{PROGRAM[13:]}")
    (run,) = await desk.actions(path, 0, triggerKind=2)
    assert run["title"].startswith("Run: /review for names")
    turn = await ended(desk, **run["command"]["arguments"][0])
    assert (kind_of(desk, turn), told(desk, turn).endswith("Review it.\n\nfor names")) == ("review", True)


async def test_in_a_chat(make: MakeDesk) -> None:
    desk = make(LITERALS)
    write(desk, "review.md", "Review it.\n")
    path = desk.editor.open("notes.tark.md", "## You\n\n/review for names\n")
    turn = await ended(desk, prompt="", chat=True, textDocument={"uri": path.as_uri()})
    assert (kind_of(desk, turn), told(desk, turn).endswith("Review it.\n\nfor names")) == ("review", True)


async def test_they_are_read_anew(make: MakeDesk) -> None:
    desk = make()
    path = write(desk, "look.md", "One.\n")
    assert told(desk, await ended(desk, prompt="/look")).endswith("One.")
    path.write_text("Two.\n")
    assert told(desk, await ended(desk, prompt="/look")).endswith("Two.")
    path.unlink()
    assert told(desk, await ended(desk, prompt="/look")).endswith("says:\n\n/look")


async def test_what_is_left_out_is_said_once(make: MakeDesk) -> None:
    desk = make()
    write(desk, "undo.md", "x")
    write(desk, "review.md", "---\napproval: balanced\n---\nReview.\n")
    for _ in range(3):
        await desk.command("tark.state")
    notes = desk.connection.notes()
    assert len(notes) == 2
    assert any("/undo is the name of a command or kind of Tark" in note for note in notes)
    assert any("ignored: approval" in note for note in notes)


async def test_a_turn_tells_only_about_the_prompt_that_it_uses(make: MakeDesk) -> None:
    desk = make()
    write(desk, "other.md", "")
    write(desk, "review.md", "---\napproval: balanced\n---\nReview.\n")
    await ended(desk, prompt="/review")
    (note,) = desk.connection.notes()
    assert "review.md: ignored: approval" in note


async def test_for_clients(make: MakeDesk) -> None:
    desk = make()
    assert (await desk.command("tark.state"))["prompts"] == []
    write(desk, "review.md", "---\ndescription: Looks\nkind: edit\n---\nReview it.\n")
    write(desk, "tidy.md", "Tidy up.\n", own=True)
    assert (await desk.command("tark.state"))["prompts"] == [
        {"name": "tidy", "title": "Tidy", "description": "", "source": "user", "needsSelection": False},
        {"name": "review", "title": "Review", "description": "Looks", "source": "workspace", "needsSelection": True},
    ]


@pytest.mark.parametrize(
    ("text", "line", "character", "labels"),
    [
        ("## You\n\n/\n", 2, 1, ["/explain", "/fix", "/test", "/document", "/ask", "/init", "/review"]),
        ("/re", 0, 3, ["/explain", "/fix", "/test", "/document", "/ask", "/init", "/review"]),
        ("## You\n\n  /re\n", 2, 5, ["/explain", "/fix", "/test", "/document", "/ask", "/init", "/review"]),
        ("## You\n\nhello\n/re\n", 3, 3, None),
        ("## You\n\nsee /re\n", 2, 7, None),
        ("## You\n\n/re\n\n## Tark\n\n/x\n\n## You\n\n", 6, 2, None),
        ("## You\n\n/a/b\n", 2, 4, None),
    ],
)
async def test_completion(make: MakeDesk, text: str, line: int, character: int, labels: list[str] | None) -> None:
    desk = make()
    write(desk, "review.md", "---\ndescription: Looks\n---\nReview it.\n")
    write(desk, "shorten.md", "---\nkind: edit\n---\nShorten it.\n")
    path = desk.editor.open("notes.tark.md", text)
    place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}
    found = await desk.app.parts.chat.completion(lsp_params.HoverParams.model_validate(place))
    if labels is None:
        assert found is None
        return
    assert found is not None
    assert [item["label"] for item in found["items"]] == labels
    last = found["items"][-1]
    assert last["detail"] == "the project's: Looks"
    assert last["textEdit"]["newText"] == "/review"
    assert last["textEdit"]["range"]["end"] == {"line": line, "character": character}
