"""Answers of editors to `workspace/applyEdit`: only `applied: true` says that the edit was made."""

import pytest

from tark_lsp.server.editing.apply_edit import apply_edit
from tests.server.scripted import ScriptedConnection


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"applied": True}, (True, "")),
        ({"applied": False, "failureReason": "stale"}, (False, "stale")),
        ({"applied": False, "failureReason": None}, (False, "")),
        ({"applied": "true"}, (False, "")),
        ({"applied": 1}, (False, "")),
        ({}, (False, "")),
        ([], (False, "")),
        (None, (False, "")),
    ],
)
async def test_only_true_says_that_it_was_applied(answer: object, said: tuple[bool, str]) -> None:
    connection = ScriptedConnection()
    connection.answers["workspace/applyEdit"] = lambda _: answer
    assert await apply_edit(connection, "Tark: edit", {"documentChanges": []}, within=None) == said
    assert connection.asked == [("workspace/applyEdit", {"label": "Tark: edit", "edit": {"documentChanges": []}})]


async def test_an_editor_that_does_not_answer_in_time() -> None:
    with pytest.raises(TimeoutError):
        await apply_edit(ScriptedConnection(), "Tark: edit", {}, within=0.01)
