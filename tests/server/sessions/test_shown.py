"""How tool calls are shown, while they run and when the session is opened later."""

from typing import Any

import pytest

from tests.server.desk import TEXT, Desk, allow
from tests.server.scripted import Json
from tests.server.sessions.conftest import Another
from tests.server.sessions.probe import opened, run

REPLIES = """
wire = "anthropic-messages"

[[reply]]
tool = "edit_file"
text = "Edited."

[[reply]]
tool = "read_file"
text = "Read."

[[reply]]
when = 'says:\\s+both'
calls = [
    { name = "edit_file", arguments = { path = 'f.py', old_text = "line 1\\n", new_text = "ONE\\n" } },
    { name = "edit_file", arguments = { path = 'f.py', old_text = "line 8\\n", new_text = "EIGHT\\n" } },
]

[[reply]]
when = 'says:\\s+read (?P<path>\\S+)'
calls = [{ name = "read_file", arguments = { path = '\\g<path>', start_line = 2, end_line = 3 } }]

[[reply]]
when = 'says:\\s+wrong'
calls = [{ name = "edit_file", arguments = { path = 'f.py', old_text = "nowhere", new_text = "x" } }]
"""


@pytest.fixture
def replies(desk: Desk) -> None:
    (desk.folder.parent / "home" / "scenario.toml").write_text(REPLIES)
    (desk.folder / "f.py").write_text(TEXT)


def last_told(desk: Desk) -> list[Json]:
    """The last update of each tool call, in the order of the calls."""
    told: dict[str, Json] = {}
    for method, params in desk.connection.told:
        if method == "tark/update" and params["update"]["kind"] == "toolCall":
            told[params["update"]["toolCallId"]] = params["update"]
    return list(told.values())


def changes(call: Json) -> list[tuple[str, str]]:
    """Of its diffs."""
    diffs = [part for part in call["content"] if part["type"] == "diff"]
    return [(hunk["oldText"], hunk["newText"]) for diff in diffs for hunk in diff["hunks"]]


def words(call: Json) -> list[str]:
    return [part["text"] for part in call["content"] if part["type"] == "text"]


def calls_of(session: Json) -> list[Json]:
    return [call for message in session["messages"] for call in message.get("toolCalls", ())]


@pytest.mark.parametrize(
    ("answer", "status", "word"),
    [(allow, "completed", "Applied to f.py."), (lambda _: {"outcome": "reject"}, "rejected", "you rejected it")],
    ids=["allowed", "rejected"],
)
@pytest.mark.usefixtures("replies")
async def test_the_diff_of_an_edit_stays_when_it_is_decided(
    desk: Desk, another: Another, answer: Any, status: str, word: str
) -> None:
    desk.connection.answers["tark/requestPermission"] = answer
    session = await run(desk, "both")
    told = last_told(desk)
    await desk.stop()
    for first, second in (told, calls_of(await opened(another(), session))):
        assert [first["status"], second["status"]] == [status, status]
        assert changes(first) == [("line 1\n", "ONE\n")]
        assert changes(second) == [("line 8\n", "EIGHT\n")]
        assert words(first) == words(second) == [word]


@pytest.mark.usefixtures("replies")
async def test_why_a_call_failed_is_told_in_words(desk: Desk, another: Another) -> None:
    session = await run(desk, "wrong")
    told = last_told(desk)
    await desk.stop()
    for calls in (told, calls_of(await opened(another(), session))):
        (call,) = calls
        assert call["status"] == "failed"
        assert words(call) == ["old_text is not in the file, nor anything like it"]


@pytest.mark.usefixtures("replies")
async def test_what_was_read_is_told_as_markdown(desk: Desk, another: Another) -> None:
    session = await run(desk, "read f.py")
    told = last_told(desk)
    await desk.stop()
    for calls in (told, calls_of(await opened(another(), session))):
        (call,) = calls
        (text,) = words(call)
        assert text.startswith(f"[f.py:2-3]({(desk.folder / 'f.py').as_uri()}#L2)\n\n```py\nline 1\nline 2\n```")
