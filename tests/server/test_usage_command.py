"""`tark.usage`: what turns of a server used, by model, as JSON and as a document; also of an earlier server."""

from pathlib import Path

import pytest

from tark_lsp.errors import RequestError
from tests.server.desk import MakeDesk


async def test_a_turn_s_requests_are_counted(make: MakeDesk) -> None:
    desk = make()
    end = await desk.end(await desk.start("list ."))
    told = await desk.command("tark.usage", {"sessionId": end["sessionId"]})
    (model,) = told["models"]
    assert (model["model"], model["requests"]) == ("scripted/desk", 2)
    for name in ("inputTokens", "cachedTokens", "outputTokens", "reasoningTokens"):
        assert model[name] == told["total"][name] == end["usage"][name]
    assert model["inputTokens"] > 0
    assert (model["costUsd"], model["unpricedRequests"]) == (0.0, 0)  # a script costs nothing
    assert model["seconds"] > 0


async def test_of_all_sessions_and_since_a_day(make: MakeDesk) -> None:
    desk = make()
    for _ in range(2):
        await desk.end(await desk.start("hello"))
    assert (await desk.command("tark.usage"))["total"]["requests"] == 2
    assert (await desk.command("tark.usage", {"since": "1d"}))["total"]["requests"] == 2
    later = await desk.command("tark.usage", {"since": "2199-01-01"})
    assert (later["models"], later["total"]["requests"], later["total"]["costUsd"]) == ([], 0, None)


async def test_what_a_deleted_session_used_is_still_told(make: MakeDesk) -> None:
    desk = make()
    session = (await desk.end(await desk.start("hello")))["sessionId"]
    await desk.command("tark.session.delete", {"sessionId": session})
    assert (await desk.command("tark.usage", {"sessionId": session}))["total"]["requests"] == 1


@pytest.mark.parametrize(
    ("argument", "named"), [({"since": "soon"}, "since"), ({"sessionId": "session-nobody"}, "sessionId")]
)
async def test_what_nobody_can_answer(make: MakeDesk, argument: dict[str, str], named: str) -> None:
    desk = make()
    with pytest.raises(RequestError, match=named):
        await desk.command("tark.usage", argument)


async def test_without_updates_a_document_is_shown(make: MakeDesk) -> None:
    desk = make("window.showDocument.support", tark=())
    desk.connection.answers["window/showDocument"] = lambda _: {"success": True}
    await desk.end(await desk.start("hello"))
    await desk.command("tark.usage")
    shown = [params["uri"] for method, params in desk.connection.asked if method == "window/showDocument"][-1]
    text = Path(shown.removeprefix("file://")).read_text()
    assert text.startswith("# Usage\n\n| model | requests |")
    assert "| `scripted/desk` | 1 |" in text
    assert "| $0.0000 |" in text
