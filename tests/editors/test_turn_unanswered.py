"""Questions nobody answers are open, not refused: they are answered later by command or code action, and once."""

import pytest

from tests.editors.behaviour import NATIVE, NEOVIM, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import Policy, answer_error, answer_null, answer_unknown_title, wait
from tests.editors.shapes import AREA, NEW_AREA, SHAPES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]  # it waits for answers that never come

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)

NO_ANSWERS = (answer_null, answer_unknown_title, answer_error, wait)


async def unanswered(editor: MemoryEditor, policy: Policy) -> tuple[str, str, Json]:
    """The document, the turn, and the request that waits as `tark.permission.list` tells it."""
    editor.policy = policy
    uri = editor.new_file(SHAPES)
    turn = await editor.turn(f"rewrite the area in {uri.rpartition('/')[2]}", uri)
    await editor.connection.until(lambda: editor.questions, "the question")
    (request,) = (await editor.command("tark.permission.list", {}))["requests"]
    assert request["turnId"] == turn
    return uri, turn, request


@each_profile
@pytest.mark.parametrize(
    ("policy", "outcome"), [*((policy, "allow") for policy in NO_ANSWERS), (answer_null, "reject")]
)
async def test_answered_later_by_command(
    open_editor: OpenEditor, profile: Profile, policy: Policy, outcome: str
) -> None:
    editor = await open_editor(profile)
    uri, turn, request = await unanswered(editor, policy)
    assert editor.text(uri) == SHAPES
    answer = {"requestId": request["requestId"], "digest": request["digest"], "outcome": outcome}
    assert await editor.command("tark.permission.answer", answer) == {"accepted": True}
    end = await editor.end(turn)
    assert editor.text(uri) == (SHAPES.replace(AREA, NEW_AREA) if outcome == "allow" else SHAPES)
    assert [edit["state"] for edit in end["edits"]] == ["applied" if outcome == "allow" else "rejected"]
    assert await editor.command("tark.permission.answer", answer) == {"accepted": False}, "ids work once"


@each_profile
@pytest.mark.parametrize("outcome", ["allow", "reject"])
async def test_answered_later_by_code_action(open_editor: OpenEditor, profile: Profile, outcome: str) -> None:
    editor = await open_editor(profile)
    uri, turn, _ = await unanswered(editor, answer_null)
    # On the hunk itself its own Accept and Reject are offered; anywhere else the question is.
    actions = await editor.actions(uri, editor.documents[uri].find("import math"), invoked=False)
    answers = [item for item in actions if "tark.permission.answer" in str(item)]
    (action,) = [answer for answer in answers if f"'outcome': '{outcome}'" in str(answer)]
    assert not action.get("isPreferred")
    assert not action.get("kind", "").startswith("quickfix")
    await editor.run_action(action)
    await editor.end(turn)
    assert editor.text(uri) == (SHAPES.replace(AREA, NEW_AREA) if outcome == "allow" else SHAPES)


@each_profile
async def test_a_wrong_digest_grants_nothing(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    uri, turn, request = await unanswered(editor, answer_null)
    wrong = {"requestId": request["requestId"], "digest": "0" * 64, "outcome": "allow"}
    with pytest.raises(Exception, match="digest"):
        await editor.command("tark.permission.answer", wrong)
    assert editor.text(uri) == SHAPES
    assert turn in str((await editor.command("tark.permission.list", {}))["requests"])


@pytest.mark.parametrize("policy", [answer_null, answer_error])
async def test_no_answer_to_our_own_request_is_no_answer(open_editor: OpenEditor, policy: Policy) -> None:
    """`tark/requestPermission` answered by null or an error: the call waits, too."""
    editor = await open_editor(NEOVIM, *NATIVE)
    uri, turn, request = await unanswered(editor, policy)
    answer = {"requestId": request["requestId"], "digest": request["digest"], "outcome": "allow"}
    assert await editor.command("tark.permission.answer", answer) == {"accepted": True}
    await editor.end(turn)
    assert editor.text(uri) == SHAPES.replace(AREA, NEW_AREA)


@each_profile
async def test_a_message_answered_elsewhere_is_withdrawn(open_editor: OpenEditor, profile: Profile) -> None:
    editor = await open_editor(profile)
    _, turn, request = await unanswered(editor, wait)
    answer = {"requestId": request["requestId"], "digest": request["digest"], "outcome": "reject"}
    await editor.command("tark.permission.answer", answer)
    await editor.end(turn)
    await editor.connection.until(lambda: editor.open_question() is None, "the message withdrawn")
