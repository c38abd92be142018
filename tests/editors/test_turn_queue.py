"""A busy session queues: turns of one session run one after the other, those of different sessions side by side."""

import pytest

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.memory_editor import MemoryEditor

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)


async def busy(editor: MemoryEditor, *prompts: str) -> tuple[str, list[str]]:
    """A session with a turn that talks slowly, and turns queued behind it: the session, all turns."""
    answer = await editor.command("tark.turn.start", {"prompt": "talk slowly"})
    turns = [answer["turnId"]]
    for number, prompt in enumerate(prompts, 1):
        queued = await editor.command("tark.turn.start", {"prompt": prompt, "sessionId": answer["sessionId"]})
        assert queued["queued"] == number
        turns.append(queued["turnId"])
    return answer["sessionId"], turns


@each_profile
async def test_the_next_starts_when_the_one_before_has_ended(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile, *NATIVE)
    _, (first, second, third) = await busy(editor, "say one", "say two")
    await editor.command("tark.turn.cancel", {"turnId": first})
    ends = [await editor.end(turn) for turn in (first, second, third)]
    assert [end["stopReason"] for end in ends] == ["cancelled", "end_turn", "end_turn"]
    assert [end["text"] for end in ends[1:]] == ["The word is one.", "The word is two."]
    updates = [(message.params["turnId"], message.params["update"]["kind"]) for message in editor.sent("tark/update")]
    assert updates.index((first, "end")) < updates.index((second, "start"))
    assert updates.index((second, "end")) < updates.index((third, "start"))
    assert editor.progress("say one")[-1]["kind"] == "end"


async def test_a_queued_turn_is_cancelled_alone(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    _, (first, second, third) = await busy(editor, "say one", "say two")
    assert await editor.command("tark.turn.cancel", {"turnId": second}) == {"cancelled": [second]}
    assert (await editor.end(second))["stopReason"] == "cancelled"
    await editor.command("tark.turn.cancel", {"turnId": first})
    assert (await editor.end(third))["text"] == "The word is two."


async def test_cancelling_a_session_empties_its_queue(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    session, turns = await busy(editor, "say one", "say two")
    answer = await editor.command("tark.turn.cancel", {"sessionId": session})
    assert sorted(answer["cancelled"]) == sorted(turns)
    assert [(await editor.end(turn))["stopReason"] for turn in turns] == ["cancelled"] * 3


async def test_sessions_run_side_by_side(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    slow = await editor.turn("talk slowly")
    assert (await editor.end(await editor.turn("say hello")))["text"] == "The word is hello."
    assert slow in str((await editor.command("tark.state", {}))["turns"])
