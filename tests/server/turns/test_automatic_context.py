"""Automatic context: what the model gets with a prompt, what it never gets, and what the user is shown of it."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.context.automatic_snippets import HEAD
from tark_lsp.index.model import Found
from tark_lsp.index.status import IndexState
from tark_lsp.messages import Text
from tark_lsp.server.turns import automatic_context
from tests.patience import AT_ONCE
from tests.server.indexing.conftest import TRUSTED, IndexDesk, MakeIndexed, make_indexed
from tests.server.scripted import Json
from tests.server.turns.test_context_budget import WINDOW, sums_up

__all__ = ["make_indexed"]  # a fixture of the tests of the index

pytestmark = pytest.mark.slow  # they start an index process

FILES = {
    "shapes.py": "class Shape:\n    def area_of(self, width):\n        return squared(width)\n\n\n"
    "def squared(n):\n    return n * n\n",
    "paint.py": "from shapes import Shape\n\n\ndef paint_wall(shape):\n    cost = shape.area_of(3)\n    return cost\n",
    "hidden/keys.py": "def hidden_thing():\n    return 'a secret of the company'\n",
    "asked/more.py": "def asked_thing():\n    return 'ask first'\n",
    "other.py": "def unrelated():\n    pass\n" * 3,
}
RULES = '\n[permissions]\ndeny = ["read_file(hidden/**)"]\nask = ["read_file(asked/**)"]\n'


async def ready(make: MakeIndexed, config: str = TRUSTED, files: dict[str, str] = FILES) -> IndexDesk:
    desk = await make(files, config=config)
    desk.index.need()
    await desk.until(IndexState.READY)
    return desk


async def told(desk: IndexDesk, prompt: str, path: Path | None = None, **more: Any) -> tuple[list[str], str]:
    """The texts of automatic context in the message of a turn, and the session."""
    end = await desk.end(await desk.start(prompt, path, **more))
    session = desk.app.parts.sessions.use(end["sessionId"])
    message = [one for one in session.messages if one.role == "user"][-1]
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    assert texts[-1].endswith(prompt)
    return (texts[texts.index(HEAD) + 1 : -1] if HEAD in texts else []), session.id


async def rows(desk: IndexDesk, session: str) -> list[Json]:
    """What *Context* shows of it, without the tokens: their estimate is corrected by each answer."""
    context = await desk.command("tark.session.context", {"sessionId": session})
    return [{**part, "tokens": None} for part in context["parts"] if part["kind"] == "automatic"]


async def test_what_the_prompt_names_is_shown_once_and_with_its_reason(make_indexed: MakeIndexed) -> None:
    desk = await ready(make_indexed)
    shapes = desk.folder / "shapes.py"
    texts, session = await told(desk, "what does `area_of` return?")
    code = FILES["shapes.py"].splitlines(keepends=True)
    assert texts == [f'[named in the prompt: Shape.area_of]\n<code="{shapes}" #2:3>\n{"".join(code[1:3])}</code>\n\n']

    context = await desk.command("tark.session.context", {"sessionId": session})
    (row,) = [part for part in context["parts"] if part["kind"] == "automatic"]
    assert (row["name"], row["uri"], row["reason"]) == ("shapes.py:2-3", shapes.as_uri(), "named in your prompt")
    assert row["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 3, "character": 0}}
    assert 20 < row["tokens"] < 80
    assert context["tokens"] == sum(part["tokens"] for part in context["parts"])

    texts, _ = await told(desk, "and `area_of` again?", sessionId=session)
    assert texts == [], "the model has it already"
    shapes.write_text(FILES["shapes.py"].replace("squared(width)", "squared(2 * width)"))
    texts, _ = await told(desk, "and `area_of` now?", sessionId=session)
    assert "2 * width" in texts[0], "it has changed"
    before = await rows(desk, session)
    await desk.stop()
    desk._begin([desk.folder])
    assert await rows(desk, session) == before, "a session that is opened again shows the same"
    assert [row["name"] for row in before] == ["shapes.py:2-3"] * 2


async def test_the_neighbours_of_the_selection(make_indexed: MakeIndexed) -> None:
    desk = await ready(make_indexed)
    selected = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 30}}
    texts, _ = await told(desk, "is this right?", desk.folder / "shapes.py", range=selected)
    assert [text.split("\n")[0] for text in texts] == [
        "[called by the selection: squared]",
        "[calls the selection: paint_wall]",
    ]
    assert not any("def area_of" in text for text in texts), "the selection is shown already"


async def test_unsaved_text_counts_and_pasted_text_is_not_repeated(make_indexed: MakeIndexed) -> None:
    desk = await ready(make_indexed)
    path = desk.editor.open("other.py", "def unrelated():\n    return 'not saved'\n", on_disk=False)
    texts, _ = await told(desk, "explain `unrelated`")
    assert "not saved" in texts[0]
    assert str(path) in texts[0]
    texts, _ = await told(desk, "why is this wrong:\ndef unrelated():\n    return 'not saved'\n`unrelated`")
    assert texts == []


async def test_what_the_rules_hide_and_secrets_are_never_there(make_indexed: MakeIndexed) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    files = {**FILES, "token.py": f"def make_token():\n    return '{secret[:40]}'\n"}
    desk = await ready(make_indexed, TRUSTED + RULES, files)
    texts, _ = await told(desk, "`hidden_thing` and `asked_thing` in hidden/keys.py, asked/more.py, `make_token`?")
    assert [text.split("\n")[0] for text in texts] == ["[named in the prompt: make_token]"]
    assert secret[:40] not in texts[0]


async def test_after_a_summary_the_code_can_be_added_again(make_indexed: MakeIndexed) -> None:
    desk = await ready(make_indexed, TRUSTED + WINDOW)
    sums_up(desk)
    _, session = await told(desk, "what does `area_of` return?")
    for _ in range(4):
        await told(desk, "hello\n" + "one more word " * 1_000, sessionId=session)
    await desk.command("tark.session.compact", {"sessionId": session})
    assert await rows(desk, session) == []
    assert len((await told(desk, "and `area_of` now?", sessionId=session))[0]) == 1


async def test_a_prompt_that_is_no_valid_text(make_indexed: MakeIndexed) -> None:
    desk = await ready(make_indexed)
    texts, _ = await told(desk, "\ud800 what does `area_of` \udfff return \0 and `\ud801x`?")
    assert len(texts) == 1


@pytest.mark.parametrize("config", ['[context]\nautomatic = "off"', "[index]\nenabled = false"])
async def test_off(make_indexed: MakeIndexed, config: str) -> None:
    desk = await make_indexed(FILES, config=TRUSTED)
    desk.config.write_text(f"{desk.config.read_text()}\n{config}\n")
    desk.app.parts.configuration.reload()
    assert (await told(desk, "what does `area_of` return?"))[0] == []


async def test_the_first_prompt_after_a_start(make_indexed: MakeIndexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index process is started by the prompt, and answers by what it has."""
    monkeypatch.setattr(automatic_context, "SECONDS", AT_ONCE)
    desk = await make_indexed(FILES, config=TRUSTED)
    texts, session = await told(desk, "what does `area_of` return?")
    assert [text.split("\n")[0] for text in texts] == ["[named in the prompt: Shape.area_of]"]
    (row,) = await rows(desk, session)
    assert row["reason"].startswith("named in your prompt")


async def test_an_index_that_is_slow_delays_nothing(
    make_indexed: MakeIndexed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = await ready(make_indexed)
    asked = asyncio.Event()

    async def never(_: object) -> Found[Any]:
        asked.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError("unreachable")

    assert desk.index.process.client is not None
    monkeypatch.setattr(desk.index.process.client, "ask", never)  # an index process that hangs
    with caplog.at_level(logging.WARNING):
        texts, session = await told(desk, "what does `area_of` return?")
    assert asked.is_set()
    assert texts == []
    assert "automatic context: the index did not answer within 0.3 s" in caplog.text
    (row,) = await rows(desk, session)
    assert (row["name"], row["reason"]) == ("code for a prompt", "the index did not answer in time")
    context = await desk.command("tark.session.context", {"sessionId": session})
    assert context["tokens"] == sum(part["tokens"] for part in context["parts"])
    await desk.stop()
    desk._begin([desk.folder])
    assert await rows(desk, session) == [row], "a session that is opened again shows the same"
