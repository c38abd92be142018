"""What the next prompt consists of, compaction on demand, and texts that are too long: nothing is lost."""

import pytest

from tark_lsp.agent.events import AgentEvent, Answered, HistoryCompacted, Requested
from tark_lsp.agent.prompt import LONGEST_ATTACHMENT
from tark_lsp.agent.summary import is_summary
from tark_lsp.errors import RequestError
from tark_lsp.messages import Message, Text
from tark_lsp.server.turns.context_budget import ContextBudget
from tests.server.desk import Desk, MakeDesk
from tests.server.scripted import Json

WINDOW = """
[providers.scripted.models.desk]
contextWindow = 40000
"""
SMALL = """\
[[reply]]
when = "<conversation>"
text = "A short summary."

"""


@pytest.fixture
def desk(make: MakeDesk) -> Desk:
    return make(config=WINDOW)


def sums_up(desk: Desk) -> None:
    """The script writes a summary if it is asked for one."""
    scenario = desk.config.parent.parent.parent / "scenario.toml"
    wire, rest = scenario.read_text().split("\n", 1)
    scenario.write_text(f"{wire}\n{SMALL}{rest}")


def parts(context: Json) -> dict[str, Json]:
    return {part["kind"]: part for part in context["parts"]}


async def test_the_parts_of_the_next_prompt(desk: Desk) -> None:
    (desk.folder / "AGENTS.md").write_text("Use tabs. " * 50)
    turn = await desk.start("hello")
    session_id = (await desk.end(turn))["sessionId"]
    session = desk.app.parts.sessions.use(session_id)
    context = await ContextBudget(desk.app.parts.preparation).measure_context(session)
    by_kind = parts(context)
    assert set(by_kind) == {"system", "instructions", "tools", "history", "prompt"}
    assert by_kind["history"]["messages"] == len(session.messages) == 2
    assert by_kind["instructions"]["uri"] == (desk.folder / "AGENTS.md").as_uri()
    assert 100 < by_kind["instructions"]["tokens"] < 300
    assert by_kind["tools"]["tokens"] > 1_000
    assert context["tokens"] == sum(part["tokens"] for part in context["parts"])
    assert context["contextWindow"] == 40_000
    assert context["limit"] == round(0.85 * 40_000) - 5_000


async def test_without_a_model_the_parts_are_told_all_the_same(desk: Desk) -> None:
    session = desk.app.parts.sessions.new()
    session.model = "nobody/knows"
    context = await ContextBudget(desk.app.parts.preparation).measure_context(session)
    assert (context["contextWindow"], context["limit"]) == (None, None)
    assert set(parts(context)) == {"system", "tools", "prompt"}


async def test_summing_up_by_hand(desk: Desk) -> None:
    sums_up(desk)
    session = desk.app.parts.sessions.new()
    for n in range(20):
        session.messages.append(Message("user", (Text(f"question {n}"),)))
        session.messages.append(Message("assistant", (Text("some words of an answer " * 200),), "scripted/desk"))
    heard: list[AgentEvent] = []
    budgeting = ContextBudget(desk.app.parts.preparation)
    before = await budgeting.measure_context(session)
    done = await budgeting.compact_history(session, heard.append)
    after = await budgeting.measure_context(session)
    assert is_summary(session.messages[0])
    assert "A short summary." in session.messages[0].text
    assert [type(event) for event in heard if isinstance(event, Requested | HistoryCompacted | Answered)] == [
        Requested,
        Answered,
        HistoryCompacted,
    ]
    assert done["tokensAfter"] < 0.5 * done["tokensBefore"]
    prompt = parts(before)["prompt"]["tokens"]  # each of the figures is rounded by itself
    assert before["tokens"] - done["tokensBefore"] == pytest.approx(prompt, abs=2)
    assert after["tokens"] - done["tokensAfter"] == pytest.approx(parts(after)["prompt"]["tokens"], abs=2)
    assert parts(after)["summary"]["tokens"] < 1_000


@pytest.mark.parametrize(
    ("said", "why"), [(0, "no messages yet"), (1, "would free too little"), (-1, "the session is unchanged")]
)
async def test_summing_up_that_gains_nothing_is_refused(desk: Desk, said: int, why: str) -> None:
    session = desk.app.parts.sessions.new()
    session.model = "nobody/knows" if said < 0 else session.model
    session.messages += [Message("user", (Text("a question"),))] * abs(said)
    before = list(session.messages)
    with pytest.raises(RequestError, match=why):
        await ContextBudget(desk.app.parts.preparation).compact_history(session, lambda _: None)
    assert session.messages == before


async def test_a_paste_of_10_mb_is_refused_at_once_with_figures(desk: Desk) -> None:
    turn = await desk.start("pasted log line, number 1\n" * 400_000)
    end = await desk.end(turn)
    assert (end["stopReason"], end["error"]["code"]) == ("error", "context_overflow")
    assert "scripted/desk takes only 40k; nothing was sent" in end["error"]["message"]
    assert "file" in end["error"]["hint"]
    session = desk.app.parts.sessions.use(end["sessionId"])
    assert session.messages == []
    (start,) = desk.updates(turn, "start")
    assert len(start["prompt"]) == 10_400_000
    assert (await desk.end(await desk.start("hello", sessionId=session.id)))["text"] == "Hello."


async def test_long_files_and_texts_of_the_request_are_told_in_part_and_can_be_read_on(desk: Desk) -> None:
    path = desk.folder / "long.txt"
    path.write_text("".join(f"line {n} of a long file\n" for n in range(5_000)))
    text = "\n".join(f"entry {n} of a long log" for n in range(5_000))
    context = [{"type": "file", "uri": path.as_uri()}, {"type": "text", "name": "the log", "text": text}]
    turn = await desk.start("hello", context=context)
    end = await desk.end(turn)
    session = desk.app.parts.sessions.use(end["sessionId"])
    told = session.messages[0].text
    assert len(told) < 2 * LONGEST_ATTACHMENT + 5_000
    assert f'<code="{path}" #1:' in told
    assert "too long to show; read on with read_file, path = long.txt, start_line = 1" in told
    handle = told.split('read on with read_file(path="result:')[1][:16]
    assert desk.app.parts.preparation.contexts.results_of(session.id).find_result(handle) == text
    notices = [update["message"] for update in desk.updates(turn, "notice")]
    assert "long.txt is long: the model gets its beginning, and can read on" in notices
    assert "the log is long: the model gets its beginning, and can read on" in notices


async def test_a_long_selection_is_told_in_part(desk: Desk) -> None:
    path = desk.folder / "long.py"
    path.write_text("".join(f"x{n} = {n}\n" for n in range(9_000)))
    span = {"start": {"line": 10, "character": 0}, "end": {"line": 8_999, "character": 0}}
    end = await desk.end(await desk.start("look", path, range=span))
    told = desk.app.parts.sessions.use(end["sessionId"]).messages[0].text
    assert "<selected>" not in told
    assert "of lines 11-" in told
    assert "read on with read_file, path = long.py, start_line = " in told
    assert len(told) < LONGEST_ATTACHMENT + 5_000


async def test_another_server_tells_what_was_shortened_and_summed_up_just_so(make: MakeDesk) -> None:
    desk = make(config=WINDOW.replace("40000", "20000"))
    sums_up(desk)
    path = desk.folder / "long.txt"
    path.write_text("".join(f"line {n} of a long file\n" for n in range(400)))
    session: Json = {}
    notices: list[str] = []
    for number in range(20):
        turn = await desk.start(f"{'list .' if number % 2 else 'hello'}\n" + "one more word " * 400, **session)
        end = await desk.end(turn)
        assert end["stopReason"] == "end_turn"
        session = {"sessionId": end["sessionId"]}
        notices += [update["message"] for update in desk.updates(turn, "notice")]
    assert any("replaced by a summary from here on" in notice for notice in notices)
    told = list(desk.app.parts.sessions.use(end["sessionId"]).messages)
    assert is_summary(told[0])
    opened = await desk.command("tark.session.open", session)
    assert len([message for message in opened["messages"] if message["role"] == "user"]) == 20  # the log is whole
    await desk.stop()
    desk._begin([desk.folder])
    again = desk.app.parts.sessions.use(end["sessionId"])
    assert again.messages == told
    context = await desk.command("tark.session.context", session)
    assert "summary" in parts(context)
    assert context["tokens"] < 20_000


async def test_the_command_sums_up_and_says_so(desk: Desk) -> None:
    sums_up(desk)
    session: Json = {}
    for _ in range(5):
        end = await desk.end(await desk.start("hello\n" + "one more word " * 1_000, **session))
        session = {"sessionId": end["sessionId"]}
    done = await desk.command("tark.session.compact", session)
    assert done["tokensAfter"] < 0.8 * done["tokensBefore"]
    running = await desk.start("wait", **session)
    with pytest.raises(RequestError, match="running"):
        await desk.command("tark.session.compact", session)
    await desk.command("tark.turn.cancel", {"turnId": running})
    await desk.end(running)
