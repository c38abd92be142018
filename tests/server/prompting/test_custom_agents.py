"""Custom agents in a server in this process: offers of a project, the agent of a session, and models of modes."""

from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tests.server.desk import Desk, MakeDesk

MODELS = """\
[models.modes]
plan = "scripted/planner"
[models.agents]
planner = "scripted/thinker"
"""
TRUSTED = {"initializationOptions": {"workspaceTrusted": True}}
USER = ("updates", "permission", "input", "userSettings")


def write(desk: Desk, name: str, text: str, *, own: bool = False) -> Path:
    folder = desk.config.parent / "agents" if own else desk.folder / ".tark" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def trusted(make: MakeDesk, **more: Any) -> Desk:
    return make(tark=USER, **TRUSTED, **more)


async def ended(desk: Desk, **request: Any) -> dict[str, Any]:
    """The `start` update of a turn that has ended."""
    turn_id = str((await desk.command("tark.turn.start", request))["turnId"])
    assert (await desk.end(turn_id))["stopReason"] == "end_turn"
    return dict(desk.updates(turn_id, "start")[0])


async def refused(desk: Desk, command: str, **argument: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        await desk.command(command, argument)
    return caught.value


async def approved(desk: Desk, name: str) -> None:
    shown = await desk.command("tark.agents.show", {"name": name})
    assert await desk.command("tark.agents.approve", {"name": name, "digest": shown["digest"]}) == {"approved": True}


async def names(desk: Desk) -> list[str]:
    return [agent["name"] for agent in (await desk.command("tark.state"))["agents"]]


async def test_nothing_of_a_project_is_read_before_you_trust_it(make: MakeDesk) -> None:
    desk = make()
    write(desk, "theirs.md", "Be evil.")
    assert (await desk.command("tark.agents.list"))["agents"] == []
    assert "there is no agent 'theirs'" in (await refused(desk, "tark.turn.start", prompt="/agent theirs x")).message


async def test_an_offer_counts_after_you_saw_the_whole_file(make: MakeDesk) -> None:
    desk = trusted(make)
    file = write(desk, "theirs.md", "---\ndescription: Theirs\n---\nBe\u202e kind.\n")
    (theirs,) = (await desk.command("tark.agents.list"))["agents"]
    assert (theirs["state"], theirs["origin"], theirs["source"]) == ("waiting", "project", str(file))
    shown = await desk.command("tark.agents.show", {"name": "theirs"})
    assert "Be\\u{202e} kind." in shown["text"]
    assert "list_directory" in shown["text"], "what it can use"
    assert await names(desk) == []
    error = await refused(desk, "tark.turn.start", prompt="/agent theirs x")
    assert "the project's agent theirs cannot be used: you have not approved it" in error.message
    assert "tark-lsp agents approve theirs" in error.hint
    assert "it changed meanwhile" in str(await refused(desk, "tark.agents.approve", name="theirs", digest="0"))
    await approved(desk, "theirs")
    assert await names(desk) == ["theirs"]
    await ended(desk, prompt="/agent theirs look")


async def test_an_offer_that_changed_asks_again(make: MakeDesk) -> None:
    desk = trusted(make)
    file = write(desk, "theirs.md", "Be kind.\n")
    await approved(desk, "theirs")
    session = (await desk.command("tark.session.new"))["sessionId"]
    await desk.command("tark.settings.set", {"sessionId": session, "agent": "theirs"})
    file.write_text("Be kinder.\n")
    error = await refused(desk, "tark.turn.start", prompt="look", sessionId=session)
    assert "it changed since you approved it, and this session has it" in error.message
    shown = await desk.command("tark.agents.show", {"name": "theirs"})
    assert (shown["isDiff"], shown["approved"]) == (True, False)
    assert "+    Be kinder." in shown["text"]
    opened = await desk.command("tark.session.open", {"sessionId": session})
    assert (opened["agent"], opened["effective"]) == ("theirs", None)
    await desk.command("tark.settings.set", {"sessionId": session, "agent": "none"})
    await ended(desk, prompt="look", sessionId=session)
    assert (await desk.command("tark.agents.remove", {"name": "theirs"})) == {"left": str(file)}


async def test_the_model_of_an_offer_counts_if_you_have_its_provider(make: MakeDesk) -> None:
    desk = trusted(make)
    write(desk, "theirs.md", "---\nmodel: elsewhere/large\n---\nBe kind.\n")
    write(desk, "small.md", "---\nmodel: scripted/small\n---\nBe kind.\n")
    await approved(desk, "theirs")
    await approved(desk, "small")
    turn = await desk.command("tark.turn.start", {"prompt": "/agent theirs look"})
    await desk.end(turn["turnId"])
    assert desk.updates(turn["turnId"], "start")[0]["model"] == "scripted/desk"
    (notice,) = desk.updates(turn["turnId"], "notice")
    assert "elsewhere" in notice["message"]
    assert (await ended(desk, prompt="/agent small look"))["model"] == "scripted/small"


async def test_the_agent_of_a_session_lasts_and_is_shown(make: MakeDesk) -> None:
    desk = make()
    write(desk, "reviewer.md", "---\nmodel: scripted/small\nmode: ask\n---\nReview.", own=True)
    session = (await desk.command("tark.session.new"))["sessionId"]
    shown = await desk.command("tark.settings.set", {"sessionId": session, "agent": "Reviewer"})
    effective = {"model": "scripted/small", "mode": "ask", "approval": "careful"}
    assert (shown["agent"], shown["mode"], shown["effective"]) == ("reviewer", "build", effective)
    told = [params["session"] for method, params in desk.connection.told if method == "tark/session"]
    assert told[-1]["effective"] == effective
    assert (await ended(desk, prompt="look", sessionId=session))["model"] == "scripted/small"
    assert (await ended(desk, prompt="/agent none look", sessionId=session))["model"] == "scripted/desk"
    forked = await desk.command("tark.session.fork", {"sessionId": session})
    assert forked["agent"] == "reviewer"
    other = desk.another()
    try:
        opened = await other.command("tark.session.open", {"sessionId": forked["sessionId"]})
        assert opened["effective"] == effective
    finally:
        await other.stop()
    await desk.command("tark.session.delete", {"sessionId": session})


async def test_the_agent_of_new_sessions(make: MakeDesk) -> None:
    desk = make()
    write(desk, "reviewer.md", "Review.", own=True)
    await desk.command("tark.settings.set", {"agent": "reviewer"})
    session = (await desk.command("tark.session.new"))["sessionId"]
    assert (await desk.command("tark.session.open", {"sessionId": session}))["agent"] == "reviewer"
    assert (await desk.settings())["agent"] == "reviewer"
    await desk.command("tark.settings.set", {"agent": "none"})
    assert (await desk.settings())["agent"] is None
    assert "there is no agent 'nobody'" in str(await refused(desk, "tark.settings.set", agent="nobody"))


async def test_the_model_goes_with_the_mode(make: MakeDesk) -> None:
    desk = make(config=MODELS)
    session = {"sessionId": (await desk.command("tark.session.new"))["sessionId"]}

    async def model(**wanted: str) -> str:
        return str((await desk.command("tark.settings.set", {**session, **wanted}))["model"])

    assert await model() == "scripted/desk"
    assert await model(model="scripted/mine") == "scripted/mine"
    assert await model(mode="plan") == "scripted/planner"
    assert await model(model="scripted/other") == "scripted/other", "until the mode changes"
    assert await model(mode="ask") == "scripted/mine"
    assert (await ended(desk, prompt="look", mode="plan", **session))["model"] == "scripted/planner"
    assert (await ended(desk, prompt="look", mode="build", **session))["model"] == "scripted/mine"
    assert (await desk.command("tark.settings.set", {"mode": "plan"}))["model"] == "scripted/planner"


async def test_the_model_of_an_agent_in_the_settings_counts_more_than_its_file(make: MakeDesk) -> None:
    desk = make(config=MODELS)
    write(desk, "planner.md", "---\nmodel: scripted/small\n---\nPlan.", own=True)
    assert (await ended(desk, prompt="/agent planner look", mode="plan"))["model"] == "scripted/thinker"
    assert (await ended(desk, prompt="/agent planner x", model="scripted/this"))["model"] == "scripted/this"


async def test_a_model_of_an_unknown_provider_is_an_error(make: MakeDesk) -> None:
    desk = make(config='[models.modes]\nplan = "nowhere/x"\n[models.agents]\nreviewer = "nowhere/y"\nBAD = "a/b"\n')
    write(desk, "reviewer.md", "Review.", own=True)
    assert "models.modes.plan: " in str(await refused(desk, "tark.settings.set", mode="plan"))
    assert "the model of the agent reviewer: " in str(await refused(desk, "tark.settings.set", agent="reviewer"))
    assert any("models.agents.BAD" in text and "lower case" in text for text in desk.app.parts.configuration.problems)
    turn = await desk.command("tark.turn.start", {"prompt": "/agent reviewer look"})
    error = (await desk.end(turn["turnId"]))["error"]
    assert (error["code"], "the model of the agent reviewer" in error["message"]) == ("settings", True)


async def test_a_name_alone_says_how_to_choose_it_for_the_session(make: MakeDesk) -> None:
    desk = make()
    write(desk, "reviewer.md", "Review.", own=True)
    error = await refused(desk, "tark.turn.start", prompt="/agent reviewer")
    assert "say what the agent reviewer should do" in error.message


async def test_show_context_is_that_of_the_agent(make: MakeDesk) -> None:
    desk = make()
    write(desk, "reviewer.md", "---\ntools: Read\n---\nReview.", own=True)
    session = {"sessionId": (await desk.command("tark.session.new"))["sessionId"]}
    plain = await desk.command("tark.session.context", session)
    await desk.command("tark.settings.set", {**session, "agent": "reviewer"})
    less = await desk.command("tark.session.context", session)
    assert "2 tools" in [part["name"] for part in less["parts"]]
    assert any(part["name"].endswith("reviewer.md") for part in less["parts"])
    assert less["tokens"] < plain["tokens"]


async def test_a_turn_tells_only_about_the_agent_that_it_uses(make: MakeDesk) -> None:
    desk = trusted(make)
    write(desk, "other.md", "", own=True)
    write(desk, "reviewer.md", "---\ncolor: red\n---\nYou review.\n", own=True)
    await ended(desk, prompt="/agent reviewer look")
    (note,) = desk.connection.notes()
    assert "reviewer.md: ignored: color" in note
