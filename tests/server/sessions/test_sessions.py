"""Sessions across servers: listed, opened, continued, named, deleted, forked; by one server at a time."""

import asyncio
import gc
import re
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn
from tark_lsp.messages import Message, Text
from tark_lsp.server.sessions import sessions as sessions_module
from tark_lsp.server.sessions.title_text import title_of_fork
from tark_lsp.server.turns import turn_records as turns_module
from tark_lsp.server.turns.turn_record import TurnRecord
from tests.server.chat.test_chat import send
from tests.server.desk import TEXT, Desk, allow
from tests.server.scripted import Json, capabilities
from tests.server.sessions.conftest import Another
from tests.server.sessions.probe import listed, opened, process_is_gone, refused, run, said, sql, talking

MESSAGES_OF_NONE = [
    "nonesuch", "", "{other}.1", "{own}.x", "{own}.", "{own}.-1", "{own}.٣", "{own}.0", "{own}.999", "{own}.3",
    "{own}.01", "{own}.99999999999999999999", "{other}.3",
]  # fmt: skip
NO_AGENT = {"agent": None, "effective": None}
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def test_a_session_is_listed_and_opened_by_the_next_server(desk: Desk, another: Another) -> None:
    (desk.folder / "f.py").write_text(TEXT)
    desk.connection.answers["tark/requestPermission"] = allow
    session = await run(desk, "edit f.py")
    (before,) = await listed(desk)
    await desk.stop()
    other = another()
    (row,) = await listed(other)
    assert row == before
    assert row == {
        "sessionId": session,
        "title": "edit f.py",
        "created": row["created"],
        "updated": row["updated"],
        "folders": [desk.folder.as_uri()],
        "turns": 1,
        "model": "scripted/desk",
        "mode": "build",
        "approval": "careful",
        "thinking": "auto",
        "agent": None,
        "effective": None,
        "costUsd": 0.0,  # a script costs nothing
        "readOnly": False,
    }
    assert ISO.fullmatch(row["created"])
    assert row["created"] <= row["updated"]
    shown = await opened(other, session)
    assert {key: shown[key] for key in row} == {**row, "turns": shown["turns"]}
    asked, called, answered = shown["messages"]
    assert (asked["role"], asked["text"]) == ("user", "edit f.py")
    (call,) = called["toolCalls"]
    assert (call["name"], call["status"], call["toolKind"]) == ("edit_file", "completed", "edit")
    assert '"old_text"' in call["arguments"]
    assert call["title"]
    assert call["content"]
    assert call["locations"][0]["uri"] == (desk.folder / "f.py").as_uri()
    assert (answered["role"], answered["text"]) == ("assistant", "Edited.")
    (turn,) = shown["turns"]
    assert (turn["prompt"], turn["kind"], turn["stopReason"]) == ("edit f.py", "agent", "end_turn")
    assert {message["turnId"] for message in shown["messages"]} == {turn["turnId"]}


async def test_the_next_server_goes_on_with_it(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello", mode="plan")
    await desk.stop()
    other = another()
    await run(other, "list .", session)
    shown = await opened(other, session)
    assert said(shown) == [
        ("user", "hello"),
        ("assistant", "Hello."),
        ("user", "list ."),
        ("assistant", ""),
        ("assistant", "Listed."),
    ]
    told = other.app.parts.sessions.use(session).messages
    assert [message.role for message in told] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert told[1] == Message("assistant", (Text("Hello."),), "scripted/desk")
    assert shown["mode"] == "plan"


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("hello", "hello"),
        ("\n\n  hello \t there \nand more", "hello there"),
        ("hello \u202e\x1b[31m", "hello \\u{202e}\\u{1b}[31m"),
        ("hello " * 100_000, f"{('hello ' * 10)[:59]}…"),
        ("hello [x](y)", "hello [x](y)"),
    ],
    ids=["plain", "lines", "hidden", "giant", "a link"],
)
async def test_the_first_words_are_the_title(desk: Desk, prompt: str, title: str) -> None:
    await run(desk, prompt)
    assert [item["title"] for item in await listed(desk)] == [title]


async def test_a_turn_without_words_is_called_by_its_kind(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    await run(desk, "", kind="explain", textDocument={"uri": path.as_uri()})
    assert [item["title"] for item in await listed(desk)] == ["explain f.py"]


async def test_a_new_session_can_have_a_title_and_is_there_at_once(desk: Desk, another: Another) -> None:
    named = (await desk.command("tark.session.new", {"title": "Mine"}))["sessionId"]
    nameless = (await desk.command("tark.session.new"))["sessionId"]
    assert [item["sessionId"] for item in await listed(desk)] == [named]
    await desk.stop()
    other = another()
    for session in (named, nameless):
        await run(other, "hello", session)
    assert sorted(item["title"] for item in await listed(other)) == ["Mine", "hello"]


@pytest.mark.parametrize(
    ("wanted", "title"),
    [("Other", "Other"), ("  a\nb", "a"), ("x" * 10**6, f"{'x' * 59}…"), ("a\u200bb", "a\\u{200b}b")],
    ids=["plain", "lines", "giant", "hidden"],
)
async def test_rename(desk: Desk, another: Another, wanted: str, title: str) -> None:
    session = await run(desk, "hello")
    renamed = await desk.command("tark.session.rename", {"sessionId": session, "title": wanted})
    assert (renamed["sessionId"], renamed["title"]) == (session, title)
    await run(desk, "hello", session)
    await desk.stop()
    (row,) = await listed(another())
    assert row["title"] == title


@pytest.mark.parametrize("title", ["", " \n\t", "\u2003"])
async def test_a_title_says_something(desk: Desk, title: str) -> None:
    session = await run(desk, "hello")
    assert "title: the title is empty" in await refused(desk, "tark.session.rename", sessionId=session, title=title)
    assert [item["title"] for item in await listed(desk)] == ["hello"]


async def test_delete(desk: Desk, another: Another) -> None:
    session, stays = await run(desk, "hello"), await run(desk, "hello again")
    spent = sql("SELECT count(*) FROM usage WHERE session = ?", session)
    assert spent[0][0] > 0
    deleted = await desk.command("tark.session.delete", {"sessionId": session})
    assert (deleted["sessionId"], deleted["turns"]) == (session, 1)
    for server in (desk, another()):
        assert [item["sessionId"] for item in await listed(server)] == [stays]
        assert session in await refused(server, "tark.session.open", sessionId=session)
        assert session in await refused(server, "tark.turn.start", sessionId=session, prompt="hello")
    assert sql("SELECT count(*) FROM usage WHERE session = ?", session) == spent
    for table in ("messages", "turns"):
        assert sql(f"SELECT count(*) FROM {table} WHERE session = ?", session) == [(0,)]


async def test_one_that_runs_is_not_deleted(desk: Desk) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    assert "running" in await refused(desk, "tark.session.delete", sessionId=started["sessionId"])
    await desk.command("tark.turn.cancel", {"turnId": started["turnId"]})
    await desk.end(started["turnId"])
    await desk.command("tark.session.delete", {"sessionId": started["sessionId"]})
    assert await listed(desk) == []


def test_titles_of_forks_do_not_grow() -> None:
    title, titles = "make four changes", []
    for _ in range(3):
        title = title_of_fork(title)
        titles.append(title)
    assert titles == ["make four changes (fork)", "make four changes (fork 2)", "make four changes (fork 3)"]
    long = title_of_fork(title_of_fork("a" * 200))
    assert (len(long), long.endswith("… (fork 2)")) == (60, True)
    assert title_of_fork("use (fork) here") == "use (fork) here (fork)"


async def test_fork_at_a_message(desk: Desk) -> None:
    session = await run(desk, "hello")
    await run(desk, "list .", session)
    messages = (await opened(desk, session))["messages"]
    forks: list[Json] = [
        await desk.command("tark.session.fork", {"sessionId": session, "messageId": message["messageId"]})
        for message in messages
    ]
    forks.append(await desk.command("tark.session.fork", {"sessionId": session, "title": "Whole"}))
    kept = [said(await opened(desk, fork["sessionId"])) for fork in forks]
    whole = said({"messages": messages})
    # The fourth is an answer with a call, which keeps its result.
    assert kept == [whole[:1], whole[:2], whole[:3], whole[:4], whole, whole]
    assert {fork["parent"] for fork in forks} == {session}
    assert [fork["title"] for fork in forks[-2:]] == ["hello (fork)", "Whole"]
    await run(desk, "hello", forks[1]["sessionId"])
    assert said(await opened(desk, forks[1]["sessionId"]))[2:] == [("user", "hello"), ("assistant", "Hello.")]
    assert said(await opened(desk, session)) == whole
    (call,) = (await opened(desk, forks[-1]["sessionId"]))["messages"][3]["toolCalls"]
    assert (call["name"], call["status"], bool(call["title"])) == ("list_directory", "completed", True)


@pytest.mark.parametrize("message_id", MESSAGES_OF_NONE)
async def test_what_is_no_message_of_the_session_that_is_shown_is_none(desk: Desk, message_id: str) -> None:
    own, other = await run(desk, "list ."), await run(desk, "hello")  # the third message holds a result
    wanted = message_id.format(own=own, other=other)
    assert "messageId" in await refused(desk, "tark.session.fork", sessionId=own, messageId=wanted)
    assert "messageId" in await refused(desk, "tark.session.open", sessionId=own, before=wanted)
    assert len(await listed(desk)) == 2


async def test_a_session_of_another_workspace_is_read_and_forked(desk: Desk, another: Another, tmp_path: Path) -> None:
    session = await run(desk, "hello")
    await desk.stop()
    folder = tmp_path.resolve() / "elsewhere"
    folder.mkdir()
    other = another(folder)
    assert await listed(other) == []
    (row,) = await listed(other, all=True)
    assert (row["sessionId"], row["readOnly"]) == (session, True)
    assert (await opened(other, session))["readOnly"] is True
    why = await refused(other, "tark.turn.start", sessionId=session, prompt="hello")
    assert why == f"sessionId: this session belongs to another workspace ({desk.folder}): fork it to continue here"
    fork = await other.command("tark.session.fork", {"sessionId": session})
    assert (fork["folders"], fork["readOnly"]) == ([folder.as_uri()], False)
    await run(other, "hello", fork["sessionId"])
    assert (await listed(other))[0]["turns"] == 2


# One server at a time


async def test_the_second_server_is_told_who_has_it(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    other = another()
    (row,) = await listed(other)
    held = {"pid": row["heldBy"]["pid"], "host": row["heldBy"]["host"]}
    shown = await opened(other, session)
    assert (shown["readOnly"], shown["heldBy"]) == (True, held)
    assert said(shown) == [("user", "hello"), ("assistant", "Hello.")]
    why = f"another editor (process {held['pid']}) has this session open: fork it, or close it there"
    for name, more in (
        ("tark.turn.start", {"prompt": "hello"}),
        ("tark.settings.set", {"mode": "plan"}),
        ("tark.session.rename", {"title": "x"}),
        ("tark.session.delete", {}),
    ):
        assert why in await refused(other, name, sessionId=session, **more)
    fork = (await other.command("tark.session.fork", {"sessionId": session}))["sessionId"]
    await run(other, "hello", fork)
    await run(desk, "hello", session)  # the first one never noticed
    await desk.stop()
    shown = await opened(other, session)
    assert (shown["readOnly"], "heldBy" in shown, shown["turns"][1]["stopReason"]) == (False, False, "end_turn")
    await run(other, "hello", session)
    assert [len((await opened(other, item))["turns"]) for item in (session, fork)] == [3, 2]


async def test_a_turn_of_another_server_is_seen_while_it_runs(desk: Desk, another: Another) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    await talking(desk, started["turnId"])
    for server in (desk, another()):
        shown = await opened(server, started["sessionId"])
        _, begun = shown["messages"]
        assert "messageId" not in begun
        received = "".join(update["delta"] for update in desk.updates(started["turnId"], "text"))
        assert received.startswith(begun["text"][: len(received)])
        assert begun["text"]
        assert "ended" not in shown["turns"][0]
    other = another()
    why = await refused(other, "tark.turn.wait", turnId=started["turnId"])
    assert why.startswith("turnId: the turn runs in another editor (process ")


INTERRUPTED = (
    "Tark: “wait” was interrupted when the server ended: what was done until then is kept. "
    "“hello” was not started when the server ended: send it again."
)


@pytest.mark.parametrize(("flags", "notes"), [((), [INTERRUPTED]), (("updates",), [])], ids=["plain", "shows turns"])
async def test_a_turn_whose_session_is_taken_over_is_cancelled_and_nothing_is_lost(
    desk: Desk, another: Another, flags: tuple[str, ...], notes: list[str]
) -> None:
    """A client that shows turns gets no message about those that were interrupted."""
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    queued = await desk.command("tark.turn.start", {"prompt": "hello", "sessionId": started["sessionId"]})
    await talking(desk, started["turnId"])
    process_is_gone(started["sessionId"])
    desk.client = capabilities(tark=flags)
    other = another()
    taken = await opened(other, started["sessionId"])
    assert taken["readOnly"] is False
    assert [(turn["stopReason"], turn["error"]["code"]) for turn in taken["turns"]] == [("error", "interrupted")] * 2
    assert said(taken)[-2][1].endswith("[interrupted]")
    assert said(taken)[-1] == ("user", "hello")
    assert other.connection.notes() == notes
    await run(other, "hello", started["sessionId"])
    gone_on = said(await opened(other, started["sessionId"]))
    assert gone_on[:3] == said(taken)
    assert gone_on[3:] == [("user", "hello"), ("assistant", "Hello.")]
    for item in (started, queued):
        assert (await desk.end(item["turnId"]))["stopReason"] == "cancelled"
    lost = [note for note in desk.connection.notes() if "took over" in note or "is kept as" in note]
    assert len(lost) == 2, lost
    rows = {row["sessionId"]: row for row in await listed(desk)}
    assert rows[started["sessionId"]]["readOnly"] is True
    (copy,) = [row for id_, row in rows.items() if id_ != started["sessionId"]]
    assert copy["title"] == "wait (fork)"
    received = "".join(update["delta"] for update in desk.updates(started["turnId"], "text"))
    shown = await opened(desk, copy["sessionId"])
    assert said(shown)[:2] == [("user", "wait"), ("assistant", f"{received}\n\n[interrupted]")]
    assert [(turn["prompt"], turn["stopReason"]) for turn in shown["turns"]] == [
        ("wait", "cancelled"),
        ("hello", "cancelled"),
    ]
    assert sql("SELECT count(*) FROM usage WHERE turn = ?", started["turnId"]) == [(1,)], "it costs, whosever it is"
    assert "another editor" in await refused(desk, "tark.turn.start", sessionId=started["sessionId"], prompt="hello")
    await run(desk, "hello", copy["sessionId"])
    await run(other, "hello", started["sessionId"])


async def test_what_was_said_before_is_in_what_is_kept_of_a_lost_session(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    started = await desk.command("tark.turn.start", {"prompt": "list .", "sessionId": session})
    process_is_gone(session)
    await run(another(), "hello elsewhere", session)
    await desk.end(started["turnId"])
    (copy,) = [row["sessionId"] for row in await listed(desk) if row["sessionId"] != session]
    shown = await opened(desk, copy)
    assert said(shown)[:2] == [("user", "hello"), ("assistant", "Hello.")]
    assert [turn["prompt"] for turn in shown["turns"]] == ["hello", "list ."]
    assert not [words for _, words in said(shown) if "elsewhere" in words]


async def test_looking_keeps_nobody_out(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    await desk.stop()
    looking, using = another(), another()
    assert (await opened(looking, session))["readOnly"] is False
    assert looking.app.parts.sessions.live.all_sessions() == []
    await run(using, "hello", session)
    shown = await opened(looking, session)
    assert (shown["readOnly"], len(shown["turns"])) == (True, 2)


async def test_an_idle_session_that_is_taken_over_is_only_given_up(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    process_is_gone(session)
    await run(another(), "hello", session)
    assert "another editor" in await refused(desk, "tark.turn.start", sessionId=session, prompt="hello")
    assert len(await listed(desk)) == 1
    assert desk.connection.notes() == []


# State, waiting, memory


async def test_turns_of_an_earlier_server_can_be_waited_for(desk: Desk, another: Another) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "hello"})
    end = await desk.end(started["turnId"])
    await desk.stop()
    other = another()
    assert await other.end(started["turnId"]) == end
    assert await other.command("tark.turn.wait", {"turnId": started["turnId"], "show": True}) == end
    (note,) = other.connection.notes()
    assert note.startswith("# hello\n\nHello.\n")
    state = await other.command("tark.state", {"sessionId": started["sessionId"]})
    assert [session["sessionId"] for session in state["sessions"]] == [started["sessionId"]]
    assert state["turns"] == []
    assert (await other.command("tark.state"))["sessions"] == []


async def test_settings_of_a_session_last(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    wanted = {"mode": "ask", "approval": "manual", "thinking": "high", "model": "scripted/other"}
    assert await desk.command("tark.settings.set", {"sessionId": session, **wanted}) == {**wanted, **NO_AGENT}
    await desk.stop()
    other = another()
    (row,) = await listed(other)
    assert {key: row[key] for key in wanted} == wanted
    await run(other, "hello", session)
    assert {key: (await opened(other, session))[key] for key in wanted} == wanted


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_session_is_never_looser_than_what_holds_now(
    desk: Desk, another: Another, tmp_path: Path, elsewhere: bool
) -> None:
    session = await run(desk, "hello")
    loose = {"mode": "build", "approval": "balanced"}
    await desk.command("tark.settings.set", {"sessionId": session, **loose})
    await desk.stop()
    folder = tmp_path.resolve() / "elsewhere" if elsewhere else desk.folder
    (folder / ".tark").mkdir(parents=True)
    (folder / ".tark" / "config.toml").write_text('mode = "ask"\n')
    desk.config.write_text(f'approval = "manual"\n{desk.config.read_text()}')
    other = another(folder)
    await other.settled()
    strict = {"mode": "ask", "approval": "manual"}

    def of(shown: Json) -> Json:
        return {key: shown[key] for key in strict}

    fork = await other.command("tark.session.fork", {"sessionId": session})
    assert of(fork) == strict
    assert sql("SELECT mode, approval FROM sessions WHERE id = ?", fork["sessionId"]) == [tuple(strict.values())]
    assert {of(row) == strict for row in await listed(other, all=True)} == {True}
    if not elsewhere:
        assert of(await opened(other, session)) == strict
        assert other.connection.notes() == []
        await run(other, "hello", session)
        assert sql("SELECT mode, approval FROM sessions WHERE id = ?", session) == [tuple(strict.values())]
        assert other.connection.notes() == [
            "Tark: “hello” continues in mode ask at level manual, the current settings."
        ]


async def test_a_stricter_session_stays_as_strict(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    await desk.command("tark.settings.set", {"sessionId": session, "mode": "ask", "approval": "manual"})
    await desk.stop()
    other = another()
    await run(other, "hello", session)
    fork = await other.command("tark.session.fork", {"sessionId": session})
    assert {(row["mode"], row["approval"]) for row in (fork, await opened(other, session))} == {("ask", "manual")}
    assert other.connection.notes() == []


async def test_idle_sessions_are_on_disk_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch, another: Another) -> None:
    monkeypatch.setattr(sessions_module, "MOST_LIVE", 2)
    ids = [await run(desk, f"hello {number}") for number in range(4)]
    assert [session.id for session in desk.app.parts.sessions.live.all_sessions()] == ids[2:]
    other = another()
    assert [("heldBy" in row) for row in reversed(await listed(other))] == [False, False, True, True]
    await run(desk, "hello", ids[0])
    assert [session.id for session in desk.app.parts.sessions.live.all_sessions()] == [ids[3], ids[0]]
    assert said(await opened(desk, ids[0]))[0] == ("user", "hello 0")


async def test_of_an_ended_turn_nothing_heavy_is_remembered(desk: Desk) -> None:
    words = "hello " * 100_000
    started = await desk.command(
        "tark.turn.start", {"prompt": words, "context": [{"type": "text", "name": "n", "text": "t" * 1000}]}
    )
    await desk.end(started["turnId"])
    await asyncio.sleep(0)
    record = desk.app.parts.records.find_turn(started["turnId"])
    assert (record.turn, record.target, record.request.context, record.session.messages) == (None, None, [], [])
    assert len(record.request.prompt) <= 10_000
    assert desk.app.parts.sessions.use(started["sessionId"]).messages
    (turn,) = desk.app.parts.sessions.store.log.turns(started["sessionId"])
    assert turn.prompt == words
    shown = dict(desk.app.parts.sessions.store.log.updates(started["turnId"]))
    assert len(shown[1]["prompt"]) == 300, "once is enough"
    assert desk.updates(started["turnId"], "start")[0]["prompt"] == words


async def test_what_was_said_to_a_turn_that_ended_first_is_given_back(desk: Desk) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    waiting = await desk.start("hello", sessionId=started["sessionId"])
    for turn in (started["turnId"], waiting):
        await desk.command("tark.turn.steer", {"turnId": turn, "prompt": "and more"})
    await talking(desk, started["turnId"])
    await desk.command("tark.turn.cancel", {"sessionId": started["sessionId"]})
    for turn in (started["turnId"], waiting):
        await desk.end(turn)
        notice, end = desk.updates(turn)[-2:]
        assert (notice["kind"], notice["level"]) == ("notice", "warning")
        assert notice["message"] == "not sent to the model, since the turn ended: and more"
        assert end["kind"] == "end"
    said_later = await desk.start("hello", sessionId=started["sessionId"])
    await desk.command("tark.turn.steer", {"turnId": said_later, "prompt": "and more"})
    await desk.end(said_later)
    assert desk.updates(said_later, "notice") == [], "it was told"


async def test_the_end_says_how_full_the_window_is(desk: Desk) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "hello"})
    end = await desk.end(started["turnId"])
    told = desk.updates(started["turnId"], "usage")[-1]
    assert end["usage"]["contextUsed"] == told["contextUsed"] > 0
    assert end["usage"]["contextWindow"] == told["contextWindow"]


def held_in_memory() -> list[object]:
    gc.collect()
    return [item for item in gc.get_objects() if isinstance(item, Session | TurnRecord | Turn)]


async def test_turns_and_sessions_do_not_pile_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MOST_LIVE", 3)
    monkeypatch.setattr(turns_module, "REMEMBERED_TURNS", 3)
    of_other_tests = held_in_memory()
    for number in range(20):
        await run(desk, f"hello {number}")
    await asyncio.sleep(0)
    kept = [item for item in held_in_memory() if not any(item is other for other in of_other_tests)]
    assert len([item for item in kept if isinstance(item, Session) and item.messages]) == 3
    assert len([item for item in kept if isinstance(item, TurnRecord)]) <= 4
    assert [item for item in kept if isinstance(item, Turn)] == []


async def test_a_chat_is_stored_with_what_stood_in_it(desk: Desk, another: Another) -> None:
    path = desk.editor.open("c.tark.md", "## You\n\nfirst\n\n## Tark\n\nanswered\n\n## You\n\nhello\n")
    turn = await desk.start("", path, chat=True)
    await desk.end(turn)
    (row,) = await listed(desk)
    assert row["title"] == "hello"
    await desk.stop()
    shown = await opened(another(), row["sessionId"])
    assert said(shown) == [("user", "first"), ("assistant", "answered"), ("user", "hello"), ("assistant", "Hello.")]
    assert [message["turnId"] for message in shown["messages"]] == ["", "", turn, turn]


async def test_a_chat_whose_session_is_taken_over_goes_on_in_another(desk: Desk, another: Another) -> None:
    path = desk.editor.open("c.tark.md", "## You\n\nhello\n")
    await send(desk, path)
    (first,) = await listed(desk)
    process_is_gone(first["sessionId"])
    await run(another(), "hello", first["sessionId"])
    end = len(desk.editor.text(path))
    desk.editor.type(path, (end, end, "hello again\n"))
    started = await send(desk, path)
    assert started["sessionId"] != first["sessionId"]
    words = [text for _, text in said(await opened(desk, started["sessionId"]))]
    assert words == ["hello", "Hello.", "hello again", "Hello."]


async def test_the_list_is_a_document_where_the_client_has_no_updates(tmp_path: Path, make: Any) -> None:
    desk = make(tark=())
    await run(desk, "hello | there")
    await listed(desk)
    text = (tmp_path / "home" / "state" / "tark" / "shown" / "sessions.md").read_text()
    assert text.startswith("# Sessions\n")
    assert "| `hello \\| there` | " in text


# What the next prompt is made of


async def test_what_the_next_prompt_is_made_of(desk: Desk, another: Another) -> None:
    session = await run(desk, "hello")
    context = await desk.command("tark.session.context", {"sessionId": session})
    (history,) = [part for part in context["parts"] if part["kind"] == "history"]
    assert history["messages"] == 2
    assert context["tokens"] == sum(part["tokens"] for part in context["parts"])
    read = await another().command("tark.session.context", {"sessionId": session})  # looked at, not held
    assert [part["kind"] for part in read["parts"]] == [part["kind"] for part in context["parts"]]
    await run(desk, "hello", session)


async def test_a_session_in_which_nothing_was_said_is_not_compacted(desk: Desk) -> None:
    session = (await desk.command("tark.session.new"))["sessionId"]
    assert "no messages yet" in await refused(desk, "tark.session.compact", sessionId=session)


async def test_compaction_lasts_and_turns_wait_for_it(desk: Desk, another: Another) -> None:
    session = None
    for _ in range(6):
        session = await run(desk, "hello " + "word " * 12_000, session)
    assert session is not None
    compacting = asyncio.ensure_future(desk.command("tark.session.compact", {"sessionId": session}))
    await asyncio.sleep(0)
    assert "already" in await refused(desk, "tark.session.compact", sessionId=session)
    assert "is being compacted" in await refused(desk, "tark.session.delete", sessionId=session)
    started = await desk.command("tark.turn.start", {"prompt": "hello", "sessionId": session})
    assert started["queued"] == 1
    answer = await compacting
    assert answer["tokensAfter"] < answer["tokensBefore"]
    assert answer["sessionId"] == session
    assert (await desk.end(started["turnId"]))["stopReason"] == "end_turn"
    told = desk.app.parts.sessions.use(session).messages
    assert sql("SELECT purpose FROM usage WHERE session = ? AND turn = ''", session) == [("compaction",)]
    await desk.stop()
    other = another()
    assert other.app.parts.sessions.use(session).messages == told
    assert said(await opened(other, session))[0][1].startswith("hello word"), "the person sees all of it"


async def test_one_that_runs_is_not_compacted(desk: Desk) -> None:
    started = await desk.command("tark.turn.start", {"prompt": "wait"})
    assert "is running" in await refused(desk, "tark.session.compact", sessionId=started["sessionId"])
