"""Mentions of folders, definitions and pages, in a server in this process; and messages with too many of any."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.server.prompting.mentions import find_mentions
from tark_lsp.server.protocol import lsp_params
from tark_lsp.tools import load_tools
from tark_lsp.tools.fetch import fetch_tool
from tark_lsp.tools.web import get_page
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE
from tests.server.desk import Desk, MakeDesk, allow

ASK = "tark/requestPermission"


async def prompt_of(desk: Desk, words: str) -> str:
    """The first message of a turn with this prompt."""
    turn = await desk.start(words)
    end = await desk.end(turn)
    assert end["stopReason"] == "end_turn"
    return str(desk.app.parts.sessions.rows.read_session(end["sessionId"]).messages[0].text)


def notices(desk: Desk) -> list[str]:
    """The notices about mentions."""
    updates = [params["update"] for method, params in desk.connection.told if method == "tark/update"]
    return [update["message"] for update in updates if update["kind"] == "notice" and update["message"].startswith("@")]


def reaching_loopback(desk: Desk) -> None:
    """Our fetch tool, except for the addresses that it may connect to: tests have only these."""
    get = partial(get_page, allowed=lambda address: address == "127.0.0.1")
    desk.app.parts.preparation.contexts._tools = {**load_tools(), "fetch": fetch_tool(get)}


async def test_a_folder(make: MakeDesk) -> None:
    desk = make()
    for name in ("src/shapes/area.py", "src/b.py", "src/out.log", "a b/c.py", ".gitignore"):
        (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / name).write_text("*.log\n")
    prompt = await prompt_of(desk, 'look at @dir:src, @dir:"a b" and @dir:nonesuch and @dir:src/b.py @dir:../x @dir')
    assert "@dir:src:\nshapes/\n  area.py\nb.py\n\n" in prompt
    assert "@dir:a b:\nc.py\n" in prompt
    assert ["nonesuch" in notice or "is a file" in notice or "outside" in notice for notice in notices(desk)] == [
        True
    ] * 3
    assert prompt.count("[not there: ") == 3


async def test_rules_hold(make: MakeDesk) -> None:
    rules = 'deny = ["list_directory(secret/**)", "list_directory(secret)", "read_file(secret/**)", "fetch(127.0.0.1)"]'
    desk = make(config=f'[permissions]\n{rules}\nask = ["read_file(asked.py)"]')
    (desk.folder / "secret").mkdir()
    (desk.folder / "secret/key.py").write_text("def key():\n    return 42\n")
    (desk.folder / "asked.py").write_text("def key():\n    return 43\n")
    (desk.folder / "open.py").write_text("def key():\n    return 44\n")
    prompt = await prompt_of(desk, "@dir:secret @symbol:key @url:http://127.0.0.1:8080/ @file:secret/key.py")
    assert "@dir:secret:\n[not there: the rule list_directory(secret" in prompt
    assert "return 44" in prompt
    assert "return 42" not in prompt
    assert "return 43" not in prompt
    assert "@url:http://127.0.0.1:8080/:\n[not there: the rule fetch(127.0.0.1) denies it]" in prompt
    assert desk.connection.asked == []


@pytest.mark.parametrize("outside", [False, True])
async def test_a_selection_outside_the_workspace_is_not_given_unasked(make: MakeDesk, outside: bool) -> None:
    """As read_file would ask: the mention may stand in a comment that somebody else wrote."""
    desk = make()
    name = "../beside.txt" if outside else "inside.txt"
    (desk.folder / name).write_text("MARKED\ntwo\n")
    path = desk.editor.open(name, "MARKED\ntwo\n")
    selected = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    params = {
        "textDocument": {"uri": desk.editor.open_buffers[path].uri},
        "range": selected,
        "context": {"diagnostics": []},
    }
    await desk.app.code_actions(lsp_params.CodeActionParams.model_validate(params))
    prompt = await prompt_of(desk, "look at @selection")
    given = prompt.partition("@selection:\n")[2]
    why = "[not there: it reads outside the workspace, so the model has to ask for it with read_file]"
    assert given.startswith(why if outside else "The person selected this in inside.txt")
    assert ("MARKED" in given) != outside


async def test_definitions(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("shapes.py", "import math\n\n\nclass Shape:\n    def area(self):\n        return 1\n")
    desk.editor.type(path, (0, 0, "# new\n"))
    for number in range(8):
        (desk.folder / f"many_{number}.py").write_text("def many():\n    pass\n")
    prompt = await prompt_of(desk, "what does @symbol:Shape.area() do, and @symbol:many? @symbol:nonesuch")
    assert f'@symbol:Shape.area(:\n<code="{path}" #6:7>\n    def area(self):\n        return 1\n</code>' in prompt
    assert prompt.count("def many():") == 5
    assert "3 more places: many_5.py:1, many_6.py:1, many_7.py:1" in prompt
    assert "[not there: no definition of nonesuch was found]" in prompt
    assert notices(desk) == ["@symbol:nonesuch: no definition of nonesuch was found"]


async def test_a_page(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make()
    reaching_loopback(desk)
    desk.connection.answers[ASK] = allow
    page = Raw([b"<h1>Shapes</h1><p>round</p>"], headers={"content-type": "text/html"})
    async with Loopback([], listing=page) as server:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        prompt = await prompt_of(desk, f"see @url:{server.url}/a?b=c.")
        assert [request.path for request in server.requests] == ["/a?b=c"]
    assert f'<page url="{server.url}/a?b=c">\n# Shapes\n\nround\n</page>' in prompt
    ((_, asked),) = desk.connection.asked
    assert asked["title"] == f"fetch {server.url}/a?b=c", "the whole of it"
    assert (asked["toolKind"], asked["grants"], asked["why"]) == ("fetch", [], "it uses the network")


@pytest.mark.parametrize("approval", ["manual", "careful", "balanced"])
async def test_a_page_is_asked_about_at_every_level(make: MakeDesk, approval: str) -> None:
    """A mention may stand in a comment that somebody else wrote."""
    desk = make(config=f'approval = "{approval}"')
    reaching_loopback(desk)
    desk.connection.answers[ASK] = lambda _: {"outcome": "reject", "reason": "not that"}
    async with Loopback([Raw()]) as server:
        prompt = await prompt_of(desk, f"@url:{server.url}/")
        assert server.connections == 0
    assert "[not there: the person said no: not that]" in prompt
    assert len(desk.connection.asked) == 1


async def test_where_the_client_has_no_permission_of_ours(make: MakeDesk) -> None:
    desk = make(tark=())
    reaching_loopback(desk)
    desk.connection.answers["window/showMessageRequest"] = lambda _: {"title": "Reject"}
    await prompt_of(desk, "@url:https://example.org/a?b=c")
    ((_, asked),) = desk.connection.asked
    assert asked["message"] == "Tark: fetch https://example.org/a?b=c (it uses the network)"
    assert [action["title"] for action in asked["actions"]] == ["Show", "Reject", "Allow"]


async def test_cancelled_while_it_is_asked(make: MakeDesk) -> None:
    desk = make()
    turn = await desk.start("@url:https://example.org/")
    await desk.connection.asking(ASK)
    assert (await desk.command("tark.turn.cancel", {"turnId": turn}))["cancelled"] == [turn]
    assert (await desk.end(turn))["stopReason"] == "cancelled"
    assert desk.connection.withdrawn == [ASK]
    assert desk.app.parts.permissions.waiting() == []


async def test_cancelled_while_it_is_fetched(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make()
    reaching_loopback(desk)
    desk.connection.answers[ASK] = allow
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with Loopback([], listing=Raw([b"a"] * 500, pause=0.05)) as server:
        turn = await desk.start(f"@url:{server.url}/")
        await server.asked(1)
        await desk.command("tark.turn.cancel", {"turnId": turn})
        assert (await desk.end(turn))["stopReason"] == "cancelled"
        await server.left()
    assert server.connections == 1


async def test_inside_is_refused_even_where_the_person_agrees(make: MakeDesk) -> None:
    desk = make()
    desk.connection.answers[ASK] = allow
    async with Loopback([Raw()]) as server:
        prompt = await prompt_of(desk, f"@url:{server.url}/ @url:ftp://x @url:https://u:p@example.org/")
        assert server.connections == 0
    assert "not on the public internet" in prompt
    assert "not http or https" in prompt
    assert "user name" in prompt
    assert len(desk.connection.asked) == 1, "what cannot be fetched is not asked about"


async def test_too_many(make: MakeDesk) -> None:
    desk = make()
    (desk.folder / "big.py").write_text("x = 1\n" * 5_000)
    for number in range(8):
        (desk.folder / f"big_{number}.py").write_text("x = 1\n" * 5_000)
    asked: list[str] = []

    def reject(params: Any) -> dict[str, str]:
        asked.append(params["title"])
        return {"outcome": "reject"}

    desk.connection.answers[ASK] = reject
    words = " ".join(
        [
            *(f"@file:big_{number}.py" for number in range(8)),
            *(f"@url:https://example.org/{number}" for number in range(10)),
            *(f"@file:none_{number}.py" for number in range(5_000)),
        ]
    )
    prompt = await prompt_of(desk, words)
    given = prompt[: prompt.index("The person says:")]
    assert len(given) < 200_000
    assert asked == [f"fetch https://example.org/{number}" for number in range(5)]
    assert "only the first 5 pages of a message are fetched" in given
    assert "the mentions before it fill the limit" in given
    assert given.count("only the first 50 mentions of a message are looked up") == 1


HOSTILE = [
    '@file:"',
    '@file:"a',
    "@file:",
    "@",
    "@@file:a",
    "@file:\u202ea.py",
    "@url:",
    "@symbol:",
    '@dir:""',
    "@file:a\0b",
]


@pytest.mark.parametrize("words", [*HOSTILE, *(item * 5_000 for item in HOSTILE), "@url:https://" + "a" * 100_000])
async def test_words_that_are_no_mentions(make: MakeDesk, words: str) -> None:
    """Nothing is an error, and nothing takes for ever."""
    desk = make()
    desk.connection.answers[ASK] = lambda _: {"outcome": "reject"}
    async with asyncio.timeout(AT_ONCE):
        assert words.strip()[-20:] in await prompt_of(desk, f"x {words}")


@given(st.text("@file:dirul\"'`.,/ -9()", max_size=60))
def test_any_line_is_read(line: str) -> None:
    for mention in find_mentions(line):
        assert line[mention.start] == "@"
        assert mention.name in line[mention.start : mention.end]
        assert mention.argument in line[mention.start : mention.end]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("@dir:", ["@dir:src", '@dir:"a b"', "@dir:src/shapes"]),
        ("@dir:sh", ["@dir:src/shapes"]),
        ("@symbol:ar", ["@symbol:area", "@symbol:arena"]),
        ("@symbol:a", []),
        ("@url:http", None),
        ("@diff:", None),
    ],
)
async def test_completion(make: MakeDesk, typed: str, expected: list[str] | None) -> None:
    desk = make()
    for name in ("src/shapes/area.py", "src/b.py", "a b/c.py"):
        (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / name).write_text("def area(): pass\ndef arena(): pass\n")
    path: Path = desk.editor.open("notes.tark.md", f"see {typed}\n")
    place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 4 + len(typed)}}
    found = await desk.app.parts.chat.completion(lsp_params.HoverParams.model_validate(place))
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert sorted(item["textEdit"]["newText"] for item in found["items"]) == sorted(expected)
