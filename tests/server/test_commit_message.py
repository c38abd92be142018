"""`tark.commitMessage`: what the model is told about the changes, and what the client gets."""

import asyncio
from typing import Any

import pytest

from tark_lsp.agent.commit_message import NAME_ONLY
from tark_lsp.errors import RequestError
from tests.server.desk import Desk, MakeDesk
from tests.server.scripted import Json
from tests.server.sessions.probe import listed, sql
from tests.tools.test_read_changes import git

pytestmark = pytest.mark.virtual_clock

ECHO = """\
wire = "anthropic-messages"

[[reply]]
when = '(?s)(?P<told><diff.*)'
text = '\\g<told>'
"""
KEY = "sk-proj-abcdefghij1234567890"


def replies(desk: Desk, scenario: str) -> Desk:
    (desk.config.parents[2] / "scenario.toml").write_text(scenario)
    return desk


def change(path: str, diff: str | None = "+one\n", **more: Any) -> Json:
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n"
    return {"path": path, "change": "modified", **({} if diff is None else {"diff": head + diff}), **more}


async def write(desk: Desk, *files: Json, **more: Any) -> Json:
    return dict(await desk.command("tark.commitMessage", {"root": desk.folder.as_uri(), "files": [*files], **more}))


async def test_the_model_gets_diffs_and_earlier_subjects(make: MakeDesk) -> None:
    desk = replies(make(), ECHO)
    answer = await write(desk, change("a.py"), recentSubjects=["feat: one"])
    assert "+one\n</diff>" in answer["message"]
    assert "feat: one\n</subjects>" in answer["message"]
    (row,) = (await desk.command("tark.usage"))["models"]
    assert (row["model"], row["requests"]) == ("scripted/desk", 1)
    assert sql("SELECT session, turn, purpose, stop FROM usage") == [("", "", "commit", "end_turn")]
    assert await listed(desk) == [], "no session begins"


async def test_keys_are_masked_also_at_the_edge_of_what_is_shown(
    make: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "plain words as key")
    desk = replies(make(), ECHO)
    diff = f'+client = Client("{KEY}")\n+say("plain words as key")\n+password = "hunter2hunter2"\n+kept = 1\n'
    answer = await write(desk, change("a.py", diff), recentSubjects=[f"use {KEY}"])
    for secret in (KEY, "plain words", "hunter2"):
        assert secret not in answer["message"]
    assert "+kept = 1" in answer["message"]
    assert "use ***" in answer["message"]


@pytest.mark.parametrize(
    ("file", "config"),
    [
        (change(".github/workflows/ci.yml"), ""),
        (change("new.yml", previousPath=".github/old.yml", change="renamed"), ""),
        (change("src/private/a.py"), '[permissions]\ndeny = ["read_file(src/private/**)"]\n'),
        (change("src/../src/private/a.py"), '[permissions]\ndeny = ["read_file(src/private/**)"]\n'),
        (change("asked.py"), '[permissions]\nask = ["read_file(asked.py)"]\n'),
        (change("*", "+one\ndiff --git a/.github/ci.yml b/.github/ci.yml\n+two\n"), ""),
        (change("untracked.py", None), ""),
    ],
    ids=["protected", "renamed from protected", "denied", "roundabout", "asked about", "two files", "no diff"],
)
async def test_only_the_name_of_some_files_is_told(make: MakeDesk, file: Json, config: str) -> None:
    desk = replies(make(config=config), ECHO)
    message = (await write(desk, file))["message"]
    assert f'<diff file="{file["path"]}"' in message
    assert NAME_ONLY in message
    assert "one" not in message.replace(NAME_ONLY, "")


async def test_a_repository_above_the_workspace(make: MakeDesk) -> None:
    """Its files outside the workspace are protected by the same names."""
    desk = replies(make(), ECHO)
    root = {"root": desk.folder.parent.as_uri()}
    message = (await write(desk, change("workspace/a.py"), change(".github/ci.yml", "+two\n"), **root))["message"]
    assert "+one" in message
    assert "+two" not in message


@pytest.mark.parametrize(
    ("argument", "named"),
    [({"files": []}, "no changes"), ({"root": "untitled:x"}, "root"), ({"files": [{"diff": "x"}]}, "path")],
)
async def test_what_cannot_be_described(make: MakeDesk, argument: Json, named: str) -> None:
    desk = make()
    with pytest.raises(RequestError, match=named):
        await desk.command("tark.commitMessage", {"root": desk.folder.as_uri(), "files": [change("a.py")], **argument})


@pytest.mark.real_clock
async def test_without_files_the_server_reads_what_is_staged(make: MakeDesk) -> None:
    """With the same rules. Nothing is committed, and nothing is read that is not staged, or not trusted."""
    desk = replies(make(), ECHO)
    root = {"root": desk.folder.as_uri()}
    with pytest.raises(RequestError, match="not in a git repository"):
        await desk.command("tark.commitMessage", root)
    git(desk.folder, "init", "-q")
    with pytest.raises(RequestError, match="nothing is staged"):
        await desk.command("tark.commitMessage", root)
    (desk.folder / "a.py").write_text(f'client = Client("{KEY}")\nkept = 1\n')
    (desk.folder / ".github").mkdir()
    (desk.folder / ".github" / "ci.yml").write_text("two\n")
    git(desk.folder, "add", ".")
    (desk.folder / "a.py").write_text("not staged\n")
    message = (await desk.command("tark.commitMessage", root))["message"]
    assert '<diff file="a.py" change="added"' in message
    assert "+kept = 1" in message
    assert f'<diff file=".github/ci.yml" change="added" from="project">\n{NAME_ONLY}' in message
    assert not any(word in message for word in (KEY, "+two", "not staged"))
    with pytest.raises(RequestError, match="index"):
        await desk.command("tark.commitMessage", {**root, "index": "../../elsewhere"})
    desk.config.write_text("workspaceTrusted = false\n" + desk.config.read_text())
    with pytest.raises(RequestError, match="not trusted"):
        await desk.another().command("tark.commitMessage", root)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("error = { status = 401 }", "authentication"),
        ('text = "  "', "model"),
        ('text = "```\\n```"', "model"),
        ('text = "half"\ncut = true', "stream_cut"),
    ],
    ids=["refused", "blank", "empty fence", "cut off"],
)
async def test_a_failure_is_answered_like_that_of_a_turn(make: MakeDesk, reply: str, code: str) -> None:
    desk = replies(make(), f'wire = "anthropic-messages"\n\n[[reply]]\n{reply}\n')
    answer = await write(desk, change("a.py"))
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert "message" not in answer


async def test_the_model_of_the_request_counts(make: MakeDesk) -> None:
    desk = make()
    assert (await write(desk, change("a.py"), model="nowhere/model"))["error"]["code"] == "settings"
    assert (await write(desk, change("a.py"), model="scripted/other"))["message"] == "Hello."
    assert sql("SELECT model FROM usage") == [("scripted/other",)]


async def test_it_can_be_cancelled(make: MakeDesk) -> None:
    desk = replies(
        make(), 'wire = "anthropic-messages"\n\n[[reply]]\ntext = "long words"\nchunk = 1\ndelay_ms = 1000\n'
    )
    task = asyncio.ensure_future(write(desk, change("a.py")))
    await asyncio.sleep(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sql("SELECT purpose, stop FROM usage") == [("commit", "cancelled")]
