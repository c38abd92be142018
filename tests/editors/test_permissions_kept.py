"""Grants for always and trust of a workspace, with real servers and the sandbox: asked once, and revoked at once."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.editors.behaviour import HELIX, NEOVIM, Profile
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SERVER, environment
from tests.editors.question import MESSAGE, PERMISSION, Question
from tests.editors.restarts import ended
from tests.sandbox.conftest import MISSING

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]

SCENARIO = """\
wire = "openai-chat"
[[reply]]
tool = "run_command"
text = "Done."
"""


class Machine:
    """A workspace and a home, on which servers come and go."""

    def __init__(self, root: Path) -> None:
        self.folder, self.home = root.resolve() / "workspace", root.resolve() / "home"
        self.folder.mkdir()
        (self.folder / "check.sh").write_text("echo checked $*\n")
        settings = self.home / "config" / "tark"
        settings.mkdir(parents=True)
        scenario = self.home / "scenario.toml"
        says = {
            "first": ["bash check.sh one"],
            "second": ["bash check.sh two"],
            "both": ["touch asked", "bash check.sh three"],
            "look": ["git status"],
        }
        replies = [
            f"[[reply]]\nwhen = 'please {prompt}'\ncalls = [{', '.join(map(_call, commands))}]\n"
            for prompt, commands in says.items()
        ]
        scenario.write_text(SCENARIO + "".join(replies))
        (settings / "config.toml").write_text(
            f"model = \"scripted/m\"\n[providers.scripted]\nscenario = '{scenario}'\n"
        )
        self.env = {**environment(self.home), "TARK_SANDBOX": "auto"}

    async def editor(self, profile: Profile = NEOVIM, *flags: str) -> MemoryEditor:
        editor = MemoryEditor(profile, frozenset(flags or ("permission", "updates")))
        await editor.start(SERVER, folder=self.folder, env=self.env)
        return editor

    async def run(self, *arguments: str) -> str:
        """`tark-lsp` in a terminal of the same user."""
        process = await asyncio.create_subprocess_exec(*SERVER, *arguments, env=self.env, stdout=-1, stderr=-2)
        output, _ = await process.communicate()
        return output.decode()


def _call(command: str) -> str:
    return f'{{ name = "run_command", arguments = {{ command = "{command}" }} }}'


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def outputs(editor: MemoryEditor, turn: str) -> list[str]:
    calls = [update for update in editor.updates(turn, "toolCall") if update["status"] == "completed"]
    return [call["content"][0]["text"] for call in calls]


def grant_of(question: Question, scope: str, *, wide: bool) -> Json:
    return next(
        grant
        for grant in question.params["grants"]
        if grant["scope"] == scope and ("any arguments" in grant["covers"]) is wide
    )


async def begin_trusted(machine: Machine, editor: MemoryEditor) -> None:
    """The first command is granted for always, with any arguments, so the second one runs. Git asks for trust."""
    turn = await editor.turn("please first")
    question = await editor.question()
    assert question.method == PERMISSION
    grant = grant_of(question, "always", wide=True)
    assert grant["covers"] == "`bash check.sh ...` with any arguments in this folder, always"
    question.answer({"outcome": "allow", "grant": grant["id"]})
    await editor.end(turn)
    turn = await editor.turn("please second")
    await editor.end(turn)
    assert "checked two" in outputs(editor, turn)[0]
    assert len(editor.questions) == 1
    turn = await editor.turn("please look")
    trust = await editor.question()
    assert trust.method == MESSAGE
    assert f"do you trust {machine.folder}?" in trust.text
    trust.choose("Trust")
    await editor.end(turn)


async def test_one_question_then_none_until_the_folder_is_replaced(machine: Machine) -> None:
    editor = await machine.editor()
    await begin_trusted(machine, editor)
    assert len(editor.questions) == 2
    await ended(editor)
    again = await machine.editor()
    for prompt in ("second", "look"):
        await again.end(await again.turn(f"please {prompt}"))
    assert again.questions == []
    (machine.folder / "check.sh").rename(machine.home / "check.sh")
    machine.folder.rmdir()
    machine.folder.mkdir()
    (machine.home / "check.sh").rename(machine.folder / "check.sh")
    turn = await again.turn("please second")
    question = await again.question()
    assert question.method == PERMISSION
    question.reject()
    await again.end(turn)
    listed = (await again.command("tark.permissions.list", {}))["permissions"]
    assert [(one["kind"], one["holds"]) for one in listed] == [("grant", False), ("trust", False)]
    await ended(again)


async def test_what_another_process_revokes_holds_no_longer_in_a_running_turn(machine: Machine) -> None:
    editor = await machine.editor()
    await begin_trusted(machine, editor)
    turn = await editor.turn("please both")
    first = await editor.question()
    assert first.params["command"]["text"] == "touch asked"
    listed = (await editor.command("tark.permissions.list", {}))["permissions"]
    (grant,) = [one["id"] for one in listed if one["kind"] == "grant"]
    assert "revoked: " in await machine.run("permissions", "revoke", grant)
    first.allow()
    await editor.connection.until(lambda: (open_ := editor.open_question()) and open_ is not first, "the next question")
    second = await editor.question()
    assert second.params["command"]["text"] == "bash check.sh three"
    second.allow()
    await editor.end(turn)
    await ended(editor)


async def test_trust_is_asked_until_it_is_answered_and_not_now_asks_as_before(machine: Machine) -> None:
    editor = await machine.editor()
    turn = await editor.turn("please look")
    cancelled = await editor.question()
    await editor.command("tark.turn.cancel", {"turnId": turn})
    await editor.end(turn)
    await editor.connection.until(lambda: cancelled.withdrawn, "the question withdrawn")
    turn = await editor.turn("please look")
    trust = await editor.question()
    assert trust.titles == ["Not Now", "Trust"]
    trust.choose("Not Now")
    for _ in range(2):
        await editor.connection.until(lambda: editor.questions[-1].method == PERMISSION, "the usual question")
        permission = await editor.question()
        assert "you have not said that you trust this workspace" in permission.params["why"]
        permission.reject()
        await editor.end(turn)
        turn = await editor.turn("please look")
    assert sum(question.method == MESSAGE for question in editor.questions) == 2
    await ended(editor)


async def test_an_editor_with_messages_alone_can_allow_for_always(machine: Machine) -> None:
    editor = await machine.editor(HELIX, "updates")
    turn = await editor.turn("please first")
    question = await editor.question()
    always = "Always allow `bash check.sh ...` with any arguments in this folder"
    assert question.titles == ["Show", "Reject", "Allow", "Allow for this session", always]
    question.choose(always)
    await editor.end(turn)
    assert "`bash check.sh ...` with any arguments" in await machine.run("permissions")
    await ended(editor)


async def test_what_was_granted_for_a_session_is_listed_and_revoked(machine: Machine) -> None:
    editor = await machine.editor()
    turn = await editor.turn("please first")
    question = await editor.question()
    question.answer({"outcome": "allow", "grant": grant_of(question, "session", wide=False)["id"]})
    end = await editor.end(turn)
    (listed,) = (await editor.command("tark.permissions.list", {}))["permissions"]
    assert listed["scope"] == "session"
    assert listed["sessionId"] == end["sessionId"]
    assert listed["covers"] == "`bash check.sh one` in this folder, this session"
    assert await editor.command("tark.permissions.revoke", {"all": True}) == {"revoked": [listed["id"]]}
    damaged = machine.home / "damaged"  # renamed when it is complete: the server can look at any moment
    damaged.write_bytes(os.urandom(20_000))
    damaged.rename(machine.home / "state" / "tark" / "permissions.sqlite3")
    for _ in range(2):
        turn = await editor.turn("please first", sessionId=end["sessionId"])
        (await editor.question()).reject()
        await editor.end(turn)
    assert sum("the file of permissions was damaged" in note for note in editor.notes) == 1
    await ended(editor)
