"""`tark.session.restore`: back to before a prompt, in a fork."""

from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tests.server.desk import TEXT, Desk, MakeDesk

pytestmark = pytest.mark.real_clock


def allow_exactly(params: Any) -> Any:
    return {"outcome": "allow", "digest": params["digest"]}


async def talk(desk: Desk) -> tuple[str, list[str], list[str]]:
    """A session of four turns, of which the first two edit; the ids of its prompts, and of its turns."""
    desk.connection.answers["tark/requestPermission"] = allow_exactly
    session, turns = None, []
    for prompt in ("edit f.py", "write new.py", "say hello", "run touch made"):
        turns.append(await desk.start(prompt, **({} if session is None else {"sessionId": session})))
        session = (await desk.end(turns[-1]))["sessionId"]
    assert session is not None
    messages = (await desk.command("tark.session.open", {"sessionId": session}))["messages"]
    return session, [message["messageId"] for message in messages if message["role"] == "user"], turns


async def restore(desk: Desk, session: str, message: str, **more: Any) -> Any:
    return await desk.command("tark.session.restore", {"sessionId": session, "messageId": message, **more})


@pytest.fixture
def desk(make: MakeDesk) -> Desk:
    desk = make()
    (desk.folder / "f.py").write_text(TEXT)
    return desk


async def test_with_the_files(desk: Desk) -> None:
    session, prompts, turns = await talk(desk)
    path, new = desk.folder / "f.py", desk.folder / "new.py"
    path.write_text("mine\n" + path.read_text())
    foreseen = await restore(desk, session, prompts[0], files=True, preview=True)
    assert new.exists()
    answer = await restore(desk, session, prompts[0], files=True)
    fork = answer.pop("session")
    assert answer == foreseen
    assert answer["prompt"] == "edit f.py"
    assert answer["turns"] == [turns[1], turns[0]]
    assert answer["restored"] == [new.as_uri(), path.as_uri()]
    assert answer["kept"] == []
    assert answer["changedByCommand"] == [(desk.folder / "made").as_uri()]
    assert path.read_text() == "mine\n" + TEXT
    assert not new.exists()
    assert (desk.folder / "made").exists()
    assert (fork["parent"], fork["turns"]) == (session, 0)
    old = await desk.command("tark.session.open", {"sessionId": session})
    assert [turn.get("undone") for turn in old["turns"]] == ["all", "all", None, None]
    assert len(old["messages"]) > len(prompts)


async def test_without_the_files(desk: Desk) -> None:
    session, prompts, _ = await talk(desk)
    answer = await restore(desk, session, prompts[1])
    fork = answer.pop("session")
    assert answer == {"prompt": "write new.py", "turns": [], "restored": [], "kept": [], "changedByCommand": []}
    assert (desk.folder / "new.py").exists()
    messages = (await desk.command("tark.session.open", {"sessionId": fork["sessionId"]}))["messages"]
    assert [message["text"] for message in messages if message["role"] == "user"] == ["edit f.py"]


async def test_again_in_the_fork(desk: Desk) -> None:
    """The turns of the fork are copies; what they changed can be undone from there."""
    session, prompts, _ = await talk(desk)
    fork = (await restore(desk, session, prompts[2], files=True))["session"]["sessionId"]
    assert (desk.folder / "new.py").exists()
    messages = (await desk.command("tark.session.open", {"sessionId": fork}))["messages"]
    answer = await restore(desk, fork, messages[0]["messageId"], files=True)
    assert not (desk.folder / "new.py").exists()
    assert (desk.folder / "f.py").read_text() == TEXT
    assert answer["session"]["parent"] == fork


async def test_what_is_kept_is_said_and_the_rest_is_undone(desk: Desk) -> None:
    session, prompts, _ = await talk(desk)
    (desk.folder / "new.py").write_text("mine\n")
    answer = await restore(desk, session, prompts[0], files=True)
    assert answer["restored"] == [(desk.folder / "f.py").as_uri()]
    reason = "the agent created it, and it was changed since"
    assert answer["kept"] == [{"uri": (desk.folder / "new.py").as_uri(), "reason": reason}]
    assert (desk.folder / "new.py").read_text() == "mine\n"


async def test_what_is_refused(desk: Desk) -> None:
    session, prompts, _ = await talk(desk)
    messages = (await desk.command("tark.session.open", {"sessionId": session}))["messages"]
    answer = next(message["messageId"] for message in messages if message["role"] == "assistant")
    for ids, problem in (
        (("nonesuch", prompts[0]), "there is no session"),
        ((session, "nonesuch"), "there is no message"),
        ((session, f"{session}.99"), "there is no message"),
        ((session, answer), "is not the prompt of a turn"),
    ):
        with pytest.raises(RequestError, match=problem) as caught:
            await restore(desk, *ids, files=True)
        assert caught.value.rpc_code == -32602
    turn = await desk.start("wait", sessionId=session)
    with pytest.raises(RequestError, match="a turn of this session is running") as caught:
        await restore(desk, session, prompts[0], files=True)
    assert "cancel it first" in caught.value.hint
    await desk.command("tark.turn.cancel", {})
    await desk.end(turn)
    assert (desk.folder / "new.py").exists()


async def test_a_session_that_another_server_has(desk: Desk) -> None:
    session, prompts, _ = await talk(desk)
    other = desk.another()
    with pytest.raises(RequestError, match="has this session open") as caught:
        await restore(other, session, prompts[0], files=True)
    assert "fork it" in str(caught.value)
    assert (desk.folder / "new.py").exists()
    await other.stop()


async def test_a_session_of_another_workspace(desk: Desk) -> None:
    session, prompts, _ = await talk(desk)
    await desk.app.stop()
    elsewhere = desk.folder.parent / "elsewhere"
    elsewhere.mkdir()
    other = desk.another(elsewhere)
    with pytest.raises(RequestError, match="another workspace") as caught:
        await restore(other, session, prompts[0], files=True)
    assert "fork it" in caught.value.hint
    assert (desk.folder / "new.py").exists()
