"""Permissions: only a grant grants and only a rejection rejects, once. After other answers it still waits."""

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.grants import Grant
from tark_lsp.agent.user_interface import PermissionRequest
from tark_lsp.errors import RequestError
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.events import HunksChanged, ReviewEvent
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.server.asking import permission_asking, questions
from tark_lsp.server.asking.permission import PermissionEvent, Permissions, TurnCancelled
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.asking.permission_commands import PermissionCommands
from tark_lsp.server.asking.preview import Preview
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.asking.waiting_permission import WaitingPermission, whole_text
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.tools.command import Command
from tark_lsp.tools.tool import Risk, ToolKind
from tark_lsp.visible import LONGEST_MESSAGE, code_block
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import checkpoints_in_memory
from tests.server.scripted import Json, ScriptedEditor, capabilities, refuse

pytestmark = pytest.mark.virtual_clock

MESSAGE, ASK = "window/showMessageRequest", "tark/requestPermission"
TEXT = "one\ntwo\nthree\n"


@dataclass
class Desk:
    folder: Path
    client: Json = field(default_factory=dict)
    name: str = "Visual Studio Code"
    cancelled: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.editor = ScriptedEditor(self.folder.resolve(), self.client, name=self.name)
        self.connection = self.editor.connection
        documents, workspace = self.editor.documents, self.editor.workspace
        checkpoints = checkpoints_in_memory()
        self.reviews = Reviews(workspace, documents, checkpoints)
        outside = OutsideChanges(self.reviews, documents, checkpoints)
        asked = Questions(self.connection, documents)
        hunks, self.show = HunksJson(documents, self.reviews.hunks), TextDisplay(self.connection, asked)
        self.permissions = Permissions(documents, workspace, hunks, self.show)
        self.permissions.listen(self._on_event)
        preview = Preview(self.connection, documents, self.reviews, outside)
        self.asking = PermissionAsking(self.connection, self.permissions, asked, preview)
        self.commands = PermissionCommands(self.connection, self.permissions)

        self.reviews.events.listen(self._on_review_event)

    def _on_review_event(self, event: ReviewEvent) -> None:
        if isinstance(event, HunksChanged):
            self.permissions.hunks_changed()

    def _on_event(self, event: PermissionEvent) -> None:
        if isinstance(event, TurnCancelled):
            self.cancelled.append(event.turn_id)

    def command(self, text: str, cwd: str = ".") -> WaitingPermission:
        command = Command(("bash", "-c", text), text, self.editor.folder / cwd)
        grants = (Grant("g-turn", "turn", "it, this turn"), Grant("g-session", "session", "it, this session"))
        request = PermissionRequest(
            ("call",), f"run_command {text}", ToolKind.EXECUTE, Risk.RISKY, "it runs", "d1", command, grants=grants
        )
        return self.permissions.open_request("turn", "session", request)

    def edit(self, path: Path, grants: tuple[Grant, ...] = ()) -> WaitingPermission:
        base = self.editor.workspace.read(path)
        lines = tuple(split_lines(base.text))
        edit = ProposedEdit(path, base, (Hunk(0, lines[:1], ("ONE\n", "1\n")), Hunk(2, lines[2:], ())))
        return self.asked(edit, grants)

    def asked(self, edit: ProposedEdit, grants: tuple[Grant, ...] = ()) -> WaitingPermission:
        hunks = self.reviews.add_proposal("turn", [(edit, ())])
        request = PermissionRequest(
            ("call",), "edit f.py", ToolKind.EDIT, Risk.WRITE, "it edits", "d2", edits=(edit,), grants=grants
        )
        return self.permissions.open_request("turn", "session", request, hunks)

    async def answer(self, waiting: WaitingPermission, outcome: str = "allow", **more: Any) -> bool:
        fields = {"requestId": waiting.id, "digest": waiting.digest, "outcome": outcome, **more}
        answer = await self.commands.answer(command_payloads.PermissionAnswer.model_validate(fields))
        return bool(answer["accepted"])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(questions, "TYPING_SECONDS", 0.02)
    monkeypatch.setattr(questions, "LOST_SECONDS", 0.05)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def asking(tmp_path: Path) -> Desk:
    return Desk(tmp_path, capabilities(tark=["permission"]))


# tark/requestPermission


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {},
        [],
        "allow",
        True,
        {"outcome": "yes"},
        {"outcome": None},
        {"outcome": "ALLOW"},
        {"outcome": "allow", "grant": "no such grant"},
        {"outcome": "allow", "hunks": ["no such hunk"]},
        {"outcome": "allow", "hunks": "all"},
        {"outcome": "allow", "edited": [{"hunkId": "no such hunk", "newText": ""}]},
        {"outcome": "reject", "reason": 7},
        {"action": {"title": "Allow"}},
    ],
)
async def test_what_is_no_answer_leaves_it_waiting(asking: Desk, reply: object) -> None:
    waiting = asking.command("make")
    asking.connection.answers[ASK] = lambda _: reply
    await asking.asking.ask(waiting)
    assert asking.permissions.waiting() == [waiting]
    assert not waiting.answer.done()
    assert await asking.answer(waiting)


async def test_an_error_leaves_it_waiting(asking: Desk) -> None:
    waiting = asking.command("make")
    asking.connection.answers[ASK] = refuse
    await asking.asking.ask(waiting)
    assert not waiting.answer.done()


@pytest.mark.parametrize(
    "reply",
    [
        {"outcome": "allow"},
        {"outcome": "allow", "grant": "g-turn"},
        {"outcome": "allow", "grant": None, "hunks": None, "edited": None, "reason": None},
        {"outcome": "reject", "reason": "not now", "unknown": 1},
    ],
)
async def test_answers(asking: Desk, reply: Json) -> None:
    waiting = asking.command("make")
    asking.connection.answers[ASK] = lambda _: reply
    await asking.asking.ask(waiting)
    answer = waiting.answer.result()
    assert (answer.outcome, answer.grant, answer.reason) == (reply["outcome"], reply.get("grant"), reply.get("reason"))


async def test_cancelled_cancels_the_turn(asking: Desk) -> None:
    waiting = asking.command("make")
    asking.connection.answers[ASK] = lambda _: {"outcome": "cancelled"}
    await asking.asking.ask(waiting)
    assert asking.cancelled == ["turn"]
    assert not waiting.answer.done()


async def test_the_first_answer_wins_and_ids_work_once(asking: Desk) -> None:
    waiting = asking.command("make")
    put = asyncio.create_task(asking.asking.ask(waiting))
    await asking.connection.asking(ASK)
    assert await asking.answer(waiting, "reject")
    assert not await asking.answer(waiting, "allow")
    put.cancel()
    asking.permissions.close_request(waiting)
    assert not await asking.answer(waiting, "allow")
    await asyncio.gather(put, return_exceptions=True)
    assert waiting.answer.result().outcome == "reject"
    assert asking.connection.withdrawn == [ASK]


async def test_a_late_answer_to_the_request_itself_changes_nothing(asking: Desk) -> None:
    waiting = asking.command("make")
    late: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    asking.connection.answers[ASK] = lambda _: late
    put = asyncio.create_task(asking.asking.ask(waiting))
    await asking.connection.asking(ASK)
    assert await asking.answer(waiting, "reject")
    late.set_result({"outcome": "allow"})
    await put
    assert waiting.answer.result().outcome == "reject"


async def test_answers_by_command_are_checked(desk: Desk) -> None:
    waiting = desk.command("make")
    for wrong in ({"digest": "another"}, {"grant": "no such"}, {"hunks": ["no such"]}):
        with pytest.raises(RequestError, match=next(iter(wrong))):
            await desk.answer(waiting, **wrong)
    unknown = {"requestId": "permission-nonesuch", "digest": "d", "outcome": "allow"}
    with pytest.raises(RequestError, match="permission-nonesuch"):
        await desk.commands.answer(command_payloads.PermissionAnswer.model_validate(unknown))
    assert not waiting.answer.done()


async def test_what_is_told_of_a_request(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    waiting = desk.edit(path, (Grant("g", "turn", "edits below ."),))
    shown = desk.permissions.json(waiting)
    assert {key: shown[key] for key in ("turnId", "sessionId", "toolCallIds", "toolKind", "risk", "why", "digest")} == {
        "turnId": "turn",
        "sessionId": "session",
        "toolCallIds": ["call"],
        "toolKind": "edit",
        "risk": "write",
        "why": "it edits",
        "digest": waiting.digest,
    }
    assert shown["grants"] == [{"id": "g", "scope": "turn", "covers": "edits below ."}]
    (document,) = shown["edits"]
    assert (document["uri"], document["version"]) == (path.as_uri(), 1)
    assert [(hunk["oldText"], hunk["newText"], hunk["state"]) for hunk in document["hunks"]] == [
        ("one\n", "ONE\n1\n", "pending"),
        ("three\n", "", "pending"),
    ]
    command = desk.permissions.json(desk.command("make"))["command"]
    assert command == {
        "argv": ["bash", "-c", "make"],
        "text": "make",
        "cwd": str(desk.editor.folder),
        "env": {},
        "sandboxed": False,
        "network": True,
        "writable": [],
    }


# What the person edits while it is asked about


EDITED_TEXT = "uno\n"


async def test_an_edited_hunk_has_another_digest(desk: Desk) -> None:
    waiting = desk.edit(desk.editor.open("f.py", TEXT))
    old = waiting.digest
    await desk.permissions.show_whole(waiting)
    await desk.reviews.edit(waiting.hunks[0].id, EDITED_TEXT)
    assert desk.permissions.json(waiting)["digest"] == waiting.digest != old
    assert not waiting.shown, "what was shown is not what would be written"
    assert "-one\n+uno\n" in whole_text(waiting, desk.editor.workspace)
    assert "ONE" not in whole_text(waiting, desk.editor.workspace)
    with pytest.raises(RequestError, match="digest"):
        await desk.answer(waiting, digest=old)
    assert not waiting.answer.done()
    assert await desk.answer(waiting)


@pytest.mark.parametrize("itself", [False, True], ids=["by message", "by tark/requestPermission"])
@pytest.mark.parametrize("late", [False, True])
async def test_a_question_about_an_edited_hunk_is_put_anew(tmp_path: Path, itself: bool, late: bool) -> None:
    """`late`: the answer to the old one came at the same time as the edit."""
    desk = Desk(tmp_path, capabilities(tark=["permission"] if itself else []))
    method, yes = (ASK, {"outcome": "allow"}) if itself else (MESSAGE, {"title": "Apply"})
    waiting = desk.edit(desk.editor.open("f.py", TEXT))
    answers: list[asyncio.Future[Any]] = []

    def later(_: Any) -> Any:
        answers.append(asyncio.get_running_loop().create_future())
        return answers[-1]

    desk.connection.answers[method] = later
    put = asyncio.create_task(desk.asking.ask(waiting))
    first = await desk.connection.asking(method)
    if late:
        answers[0].set_result(yes)
    await desk.reviews.edit(waiting.hunks[0].id, EDITED_TEXT)
    second = await desk.connection.asking(method, 2)
    assert not waiting.answer.done()
    assert desk.connection.withdrawn == ([] if late else [method])
    if itself:
        assert second["digest"] == waiting.digest != first["digest"]
        assert second["edits"][0]["hunks"][0]["newText"] == EDITED_TEXT
    else:
        assert [item["message"] for item in (first, second)] == ["Tark: f.py: +2 -2 lines", "Tark: f.py: +1 -2 lines"]
    answers[1].set_result(yes)
    await put
    assert waiting.answer.result().outcome == "allow"


async def test_a_question_is_not_put_anew_for_a_hunk_that_is_decided(desk: Desk) -> None:
    waiting = desk.edit(desk.editor.open("f.py", TEXT))
    put = asyncio.create_task(desk.asking.ask(waiting))
    await desk.connection.asking(MESSAGE)
    await desk.reviews.accept(waiting.hunk_ids[:1])
    await desk.reviews.reject(waiting.hunk_ids[1:])
    assert not desk.connection.withdrawn
    put.cancel()
    await asyncio.gather(put, return_exceptions=True)


# window/showMessageRequest


async def put(desk: Desk, waiting: WaitingPermission, *answers: object) -> list[Json]:
    """Ask by messages that are answered so, one after the other; gives their params."""
    left = list(answers)
    desk.connection.answers[MESSAGE] = lambda _: left.pop(0)
    await desk.asking.ask(waiting)
    return [params for method, params in desk.connection.asked if method == MESSAGE]


def titles(params: Json) -> list[str]:
    return [action["title"] for action in params["actions"]]


@pytest.mark.parametrize("answer", [None, {}, {"title": "Perhaps"}, {"title": None}, "Allow", [], {"title": "allow"}])
async def test_only_a_known_title_is_an_answer(desk: Desk, answer: object) -> None:
    waiting = desk.command("make")
    await put(desk, waiting, answer)
    assert not waiting.answer.done()
    assert desk.permissions.waiting() == [waiting]


@pytest.mark.parametrize(
    ("title", "outcome", "grant"),
    [("Reject", "reject", None), ("Allow", "allow", None), ("Allow for this session", "allow", "g-session")],
)
async def test_a_command(desk: Desk, title: str, outcome: str, grant: str | None) -> None:
    waiting = desk.command("make all")
    (params,) = await put(desk, waiting, {"title": title})
    assert titles(params) == ["Show", "Reject", "Allow", "Allow for this session"]
    assert params["message"] == "Tark: run make all"
    assert (waiting.answer.result().outcome, waiting.answer.result().grant) == (outcome, grant)


@pytest.mark.parametrize(
    ("saves", "title", "save"),
    [(True, "Save and Run", True), (True, "Run Anyway", False), (False, "Run Anyway", False)],
)
async def test_a_command_with_unsaved_files(tmp_path: Path, saves: bool, title: str, save: bool) -> None:
    desk = Desk(tmp_path, capabilities(tark=["save"] if saves else []))
    path = desk.editor.open("f.py", TEXT)
    waiting = desk.command("make all")
    waiting.request = replace(waiting.request, unsaved=(path,), why="it runs a command, and f.py is not saved")
    (params,) = await put(desk, waiting, {"title": title})
    assert titles(params) == ["Show", "Reject", *(["Save and Run"] if saves else []), "Run Anyway"]
    assert params["message"] == "Tark: run make all (f.py is not saved)"
    assert desk.permissions.json(waiting)["unsaved"] == [path.as_uri()]
    reply = waiting.answer.result()
    assert (reply.outcome, reply.save, reply.grant) == ("allow", save, None)


async def test_a_command_says_where_it_runs(desk: Desk) -> None:
    (desk.editor.folder / "src").mkdir()
    assert desk.permissions.message(desk.command("make", cwd="src")) == "Tark: run make in src"


async def test_edits(desk: Desk) -> None:
    waiting = desk.edit(desk.editor.open("f.py", TEXT), (Grant("g", "turn", "edits"),))
    (params,) = await put(desk, waiting, {"title": "Apply all this turn"})
    assert titles(params) == ["Review", "Reject", "Apply", "Apply all this turn"]
    assert params["message"] == "Tark: f.py: +2 -2 lines"
    assert waiting.answer.result().grant == "g"


async def test_without_a_grant_none_is_offered(desk: Desk) -> None:
    waiting = desk.edit(desk.editor.open("f.py", TEXT))
    (params,) = await put(desk, waiting, None)
    assert titles(params) == ["Review", "Reject", "Apply"]


@pytest.mark.parametrize("length", range(LONGEST_MESSAGE - 20, LONGEST_MESSAGE + 20))
async def test_a_command_is_granted_only_where_all_of_it_is_seen(desk: Desk, length: int) -> None:
    text = "echo " + "x" * (length - 10) + " evil"
    (params,) = await put(desk, desk.command(text), None)
    assert len(params["message"]) <= LONGEST_MESSAGE
    assert ("Allow" in titles(params)) == params["message"].endswith(" evil")


async def test_hidden_characters_count_as_what_is_shown(desk: Desk) -> None:
    (params,) = await put(desk, desk.command("echo " + "\u202e" * 60), None)
    assert titles(params) == ["Show", "Reject"]


async def test_a_closed_file_is_changed_only_once_the_change_was_seen(desk: Desk) -> None:
    path = desk.editor.folder / "f.py"
    path.write_text(TEXT)
    waiting = desk.edit(path)
    first, second = await put(desk, waiting, {"title": "Review"}, {"title": "Apply"})
    assert titles(first) == ["Review", "Reject"]
    assert titles(second) == ["Review", "Reject", "Apply"]
    (shown,) = (Path(desk.editor.folder) / "state" / "tark" / "shown").iterdir()
    assert shown.stat().st_mode & 0o777 == 0o600
    assert "-three\n" in shown.read_text()
    assert waiting.answer.result().outcome == "allow"


@pytest.mark.parametrize("grant", ["Apply", "Apply all this turn"])
async def test_a_document_closed_under_its_question_is_changed_only_once_the_change_was_seen(
    desk: Desk, grant: str
) -> None:
    path = desk.editor.open("f.py", TEXT)
    waiting = desk.edit(path, (Grant("g", "turn", "edits"),))
    left = [{"title": grant}, {"title": "Review"}, {"title": grant}]
    asked: list[Json] = []

    def answer(params: Json) -> Json:
        if not asked:
            desk.editor.close(path)
        asked.append(params)
        assert not waiting.answer.done()
        return left.pop(0)

    desk.connection.answers[MESSAGE] = answer
    await desk.asking.ask(waiting)
    all_of_them = ["Review", "Reject", "Apply", "Apply all this turn"]
    assert [titles(params) for params in asked] == [all_of_them, ["Review", "Reject"], all_of_them]
    assert waiting.answer.result().outcome == "allow"


@pytest.mark.parametrize("itself", [False, True], ids=["by message", "by tark/requestPermission"])
async def test_an_answer_by_command_for_a_document_closed_since(tmp_path: Path, itself: bool) -> None:
    """Who asks in a way of their own was sent the whole change."""
    desk = Desk(tmp_path, capabilities(tark=["permission"] if itself else []))
    path = desk.editor.open("f.py", TEXT)
    waiting = desk.edit(path)
    desk.editor.close(path)
    if not itself:
        with pytest.raises(RequestError, match="shown whole"):
            await desk.answer(waiting)
        assert not waiting.answer.done()
        await desk.permissions.show_whole(waiting)
    assert await desk.answer(waiting)


async def test_a_closed_file_can_be_refused_unseen(desk: Desk) -> None:
    path = desk.editor.folder / "f.py"
    path.write_text(TEXT)
    waiting = desk.edit(path)
    assert await desk.answer(waiting, "reject")


@pytest.mark.parametrize(
    ("kind", "is_open", "message", "seen_first", "shown"),
    [
        ("remove", True, "delete f.py: +0 -3 lines", True, "delete `f.py`:\n\n```diff\n--- "),
        ("remove", False, "delete f.py: +0 -3 lines", True, "+++ /dev/null\n"),
        ("move", True, "move f.py -> sub/g.py", False, "move `f.py` -> `sub/g.py`:\n\n```diff\n--- "),
        ("move", False, "move f.py -> sub/g.py", False, "sub/g.py"),
        ("both", True, "move f.py -> sub/g.py: +1 -1 lines", False, "-one\n+ONE\n"),
        ("both", False, "move f.py -> sub/g.py: +1 -1 lines", True, "-one\n+ONE\n"),
    ],
)
async def test_what_becomes_of_a_file_is_said(
    desk: Desk, kind: str, is_open: bool, message: str, seen_first: bool, shown: str
) -> None:
    path = desk.editor.open("f.py", "one\ntwo\nthree\n")
    if not is_open:
        desk.editor.close(path)
    base = desk.editor.workspace.read(path)
    hunks = (Hunk(0, ("one\n",), ("ONE\n",)),) if kind == "both" else ()
    edit = ProposedEdit(path, base, hunks, target=path.parent / "sub" / "g.py")
    waiting = desk.asked(ProposedEdit.removal(base) if kind == "remove" else edit)
    assert desk.permissions.message(waiting) == f"Tark: {message}"
    assert desk.permissions.needs_showing(waiting) == seen_first
    assert shown in whole_text(waiting, desk.editor.workspace)


async def test_a_diff_hides_nothing_and_forges_nothing(desk: Desk) -> None:
    path = desk.editor.folder / "a.md\n@@ -0,0 +1,1 @@\n+harmless.sh"
    edit = ProposedEdit.between(Snapshot(path, "", exists=False), "rm -rf ~ #\u202e\n")
    shown = whole_text(desk.asked(edit), desk.editor.workspace).split("\n")
    assert [line for line in shown if line.startswith(("+", "@@"))] == [
        "+++ a.md⏎@@ -0,0 +1,1 @@⏎+harmless.sh",
        "@@ -0,0 +1,1 @@",
        "+rm -rf ~ #\\u{202e}",
    ]


async def test_the_comment_that_goes_with_it_is_shown_too(desk: Desk) -> None:
    path = desk.editor.open("f.py", f"{TEXT}# tark: shout\n")
    waiting = desk.edit(path)
    assert whole_text(waiting, desk.editor.workspace).count("```diff") == 1
    comment = ProposedEdit(path, desk.editor.workspace.read(path), (Hunk(3, ("# tark: shout\n",), ()),))
    waiting.hunk_ids = [*waiting.hunk_ids, *desk.reviews.add_proposal("turn", [(comment, ())])]
    whole = whole_text(waiting, desk.editor.workspace)
    assert whole.count("```diff") == 2
    assert "`f.py`, line 4:\n\n```diff\n-# tark: shout\n```" in whole


async def test_what_could_not_be_shown_is_not_taken_for_seen(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "state" / "tark").mkdir(parents=True)
    (tmp_path / "state" / "tark" / "shown").write_text("in the way")
    path = desk.editor.folder / "f.py"
    path.write_text(TEXT)
    waiting = desk.edit(path)
    _, second = await put(desk, waiting, {"title": "Review"}, None)
    assert titles(second) == ["Review", "Reject"]
    assert "The rest cannot be shown" in desk.connection.notes()[0]
    assert not waiting.answer.done()


async def test_a_new_file_of_many_lines_with_a_strange_name(desk: Desk) -> None:
    name = "a\u202e[b](http://c)\n.py"
    path = desk.editor.folder / "x"
    path.mkdir()
    waiting = desk.edit(desk.editor.open(f"x/{name.replace('/', '_')}", TEXT))
    message = desk.permissions.message(waiting)
    assert "\n" not in message
    assert "\u202e" not in message
    assert "](" not in message


# Questions, one at a time


async def test_one_message_at_a_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "LOST_SECONDS", 60)
    first, second = desk.command("one"), desk.command("two")
    tasks = [asyncio.create_task(desk.asking.ask(waiting)) for waiting in (first, second)]
    await desk.connection.asking(MESSAGE)
    await asyncio.sleep(0.02)
    assert len(desk.connection.asked) == 1
    tasks[0].cancel()  # answered elsewhere: the message is taken back and the slot is free
    params = await desk.connection.asking(MESSAGE, 2)
    assert params["message"] == "Tark: run two"
    assert desk.connection.withdrawn == [MESSAGE]
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_lost_message_frees_the_slot_and_a_late_answer_still_counts(desk: Desk) -> None:
    answers: list[asyncio.Future[Any]] = []

    def later(_: Any) -> Any:
        answers.append(asyncio.get_running_loop().create_future())
        return answers[-1]

    desk.connection.answers[MESSAGE] = later
    first, second = desk.command("one"), desk.command("two")
    tasks = [asyncio.create_task(desk.asking.ask(waiting)) for waiting in (first, second)]
    begun = asyncio.get_running_loop().time()
    await desk.connection.asking(MESSAGE, 2)
    assert asyncio.get_running_loop().time() - begun >= 0.05
    answers[0].set_result({"title": "Allow"})
    await tasks[0]
    assert first.answer.result().outcome == "allow"
    assert not second.answer.done()
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_not_while_the_person_types(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    desk.editor.type(path, (0, 0, "x"))
    loop = asyncio.get_running_loop()
    begun = loop.time()
    loop.call_later(0.015, desk.editor.type, path, (0, 0, "y"))
    task = asyncio.create_task(desk.asking.ask(desk.command("make")))
    await desk.connection.asking(MESSAGE)
    assert loop.time() - begun >= 0.03
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    "text", ["plain", "``` closes", "```\n````", "a\r```\rb", "~~~\n```sh\nrm\n```", "`" * 50], ids=ascii
)
def test_a_fence_is_not_closed_from_within(text: str) -> None:
    lines = code_block(text, "sh").split("\n")
    ticks = lines[0].removesuffix("sh")
    assert lines[-1] == ticks
    assert ticks not in text


def test_the_order_of_actions_is_that_of_the_contract() -> None:
    """A stray Enter takes the first, which only shows."""
    edits = (permission_asking.REVIEW, permission_asking.REJECT, permission_asking.APPLY, permission_asking.APPLY_TURN)
    assert edits == ("Review", "Reject", "Apply", "Apply all this turn")
    rest = (permission_asking.SHOW, permission_asking.REJECT, permission_asking.ALLOW, permission_asking.ALLOW_SESSION)
    assert rest == ("Show", "Reject", "Allow", "Allow for this session")


# What has to be seen first, in editors that open no document when they are told to


LONG = "echo " + "x" * 400 + "; rm -rf ~"


async def test_the_beginning_of_a_command_is_not_the_command(desk: Desk) -> None:
    """Without `window/showDocument`, a message with 300 characters is all that the user saw."""
    waiting = desk.command(LONG)
    await desk.permissions.show_whole(waiting)
    (note,) = desk.connection.notes()
    assert "rm -rf" not in note
    assert f"permission-{waiting.id}.md to read all of it. It can be allowed when it is open in this editor." in note
    assert desk.permissions.needs_showing(waiting)
    with pytest.raises(RequestError, match="shown whole"):
        await desk.answer(waiting)
    assert await desk.answer(waiting, "reject")


async def test_it_is_seen_when_its_file_is_opened_and_asked_again(desk: Desk) -> None:
    waiting = desk.command(LONG)
    desk.connection.answers[MESSAGE] = lambda params: (
        params["actions"][0] if len(desk.connection.asked) == 1 else asyncio.get_running_loop().create_future()
    )
    asking = asyncio.create_task(desk.asking.ask(waiting))
    second = await desk.connection.asking(MESSAGE, 2)
    assert [action["title"] for action in second["actions"]] == ["Show", "Reject"]
    (shown,) = (desk.editor.folder / "state").rglob("permission-*.md")
    desk.editor.open(str(shown), shown.read_text()[:300], on_disk=False)
    assert desk.permissions.needs_showing(waiting), "that is only its beginning"
    desk.editor.close(shown)
    desk.editor.open(str(shown), shown.read_text(), on_disk=False)
    third = await desk.connection.asking(MESSAGE, 3)
    assert [action["title"] for action in third["actions"]] == ["Show", "Reject", "Allow", "Allow for this session"]
    assert await desk.answer(waiting)
    asking.cancel()


async def test_a_short_one_is_seen_in_the_message(desk: Desk) -> None:
    path = desk.editor.open("f.py", "one\n")
    desk.editor.close(path)
    waiting = desk.asked(ProposedEdit.removal(desk.editor.workspace.read(path)))
    assert desk.permissions.needs_showing(waiting)
    await desk.permissions.show_whole(waiting)
    assert "-one" in desk.connection.notes()[0]
    assert not desk.permissions.needs_showing(waiting)


async def test_what_the_user_asks_to_see_may_replace_the_view(tmp_path: Path) -> None:
    """Helix opens a document in place of the one in view: not for an answer, but for what the user wants to see."""
    desk = Desk(tmp_path, capabilities("window.showDocument.support"), "Helix")
    desk.connection.answers["window/showDocument"] = lambda _: {"success": True}
    waiting = desk.command(LONG)
    await desk.permissions.show_whole(waiting)
    assert not desk.permissions.needs_showing(waiting)
    await desk.show.show_text("answer.md", "An answer.")
    assert [method for method, _ in desk.connection.asked] == ["window/showDocument"]
    assert "An answer." in desk.connection.notes()[0]
