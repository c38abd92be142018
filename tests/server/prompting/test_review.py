"""`/review`: what the model is given of the changes, and what becomes of the problems that it reports."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.desk import Desk, MakeDesk
from tests.server.prompting.test_init import scripted
from tests.server.prompting.test_named_prompts import ended, kind_of, told, write
from tests.server.scripted import Json
from tests.tools.test_read_changes import git

CODE = "".join(f"line {n}\n" for n in range(1, 21))
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TARK = ("updates", "permission", "input")
HIDING = '[permissions]\ndeny = ["read_file(secret.py)"]'
REPORT = """\
wire = "anthropic-messages"

[[reply]]
tool = "report_problem"
text = "- `a.py:3`, warning: the count is off."

[[reply]]
calls = [
    {{ name = "report_problem", arguments = {{ path = "a.py", line = {line}, message = "The count is off by one." }} }},
    {{ name = "report_problem", arguments = {{ path = "b.py", line = 1, severity = "error", message = "No end." }} }},
]
"""


@pytest.fixture
def desk(make: MakeDesk) -> Desk:
    """`a.py` is changed on a branch, and nothing is uncommitted."""
    desk = make("textDocument.codeAction.codeActionLiteralSupport", tark=(*TARK, "review"), config=HIDING)
    scripted(desk, REPORT.format(line=3))
    for name in ("a.py", "b.py"):
        (desk.folder / name).write_text(CODE)
    git(desk.folder, "init", "-q", "-b", "main")
    commit(desk, "first")
    git(desk.folder, "switch", "-q", "-c", "feature")
    edit(desk, "a.py", 10, "branch")
    commit(desk, "second")
    return desk


def commit(desk: Desk, name: str) -> None:
    git(desk.folder, "add", ".")
    git(desk.folder, "commit", "-q", "-m", name)


def edit(desk: Desk, name: str, line: int, text: str) -> None:
    path = desk.folder / name
    path.write_text(path.read_text().replace(f"line {line}\n", f"{text}\n"))


async def reviewed(desk: Desk, prompt: str = "/review", **more: Any) -> str:
    """The prompt of the model."""
    return told(desk, await ended(desk, prompt=prompt, noDocument=True, **more))


def shown(desk: Desk) -> dict[str, list[tuple[int, int, str]]]:
    """The last published diagnostics of each file: line, severity, message."""
    found = {}
    for method, params in desk.connection.told:
        if method == "textDocument/publishDiagnostics":
            found[params["uri"].rpartition("/")[2]] = [
                (item["range"]["start"]["line"], item["severity"], item["message"]) for item in params["diagnostics"]
            ]
    return {name: problems for name, problems in found.items() if problems}


async def test_uncommitted_changes_come_first_then_the_branch(desk: Desk) -> None:
    prompt = await reviewed(desk)
    assert "Changes against main, where this branch left it." in prompt
    assert "\n    10 +branch\n" in prompt
    assert "\n       -line 10\n" in prompt
    edit(desk, "b.py", 5, "uncommitted")
    (desk.folder / "new.py").write_text("n\n")
    prompt = await reviewed(desk)
    assert "Changes against the last commit." in prompt
    assert "\n     5 +uncommitted\n" in prompt
    assert prompt.endswith("new file, not tracked by git: new.py\n@@ -0,0 +1,1 @@\n     1 +n")
    assert "+branch" not in prompt
    prompt = await reviewed(desk, "/review branch, please")
    assert "+branch" not in prompt, "only the word itself"
    prompt = await reviewed(desk, "/review branch and its tests")
    assert "+branch" in prompt
    assert "+uncommitted" in prompt
    assert prompt.endswith("The person says:\n\nbranch and its tests")
    assert "tark/requestPermission" not in dict(desk.connection.asked), "the user asked for it already"


async def test_text_that_is_not_saved_is_reviewed_as_well(desk: Desk) -> None:
    path = desk.editor.open("b.py", CODE)
    desk.editor.type(path, (0, 0, "typed\n"))
    prompt = await reviewed(desk)
    assert "\nNot saved, so shown twice: as on disk, and what differs from it in the editor: b.py.\n" in prompt
    assert "\n     1 +typed\n" in prompt
    assert "+branch" not in prompt, "it is an uncommitted change"


async def test_nothing_to_review_costs_nothing(desk: Desk) -> None:
    git(desk.folder, "switch", "-q", "main")
    turn = (await desk.command("tark.turn.start", {"prompt": "/review", "noDocument": True}))["turnId"]
    end = await desk.end(turn)
    assert end["error"]["message"].startswith("nothing to review: there are no uncommitted changes")
    assert "there are no uncommitted changes" in await reviewed(desk, "/review a.py as a whole"), "words can be enough"


async def test_what_is_hidden_or_looks_like_a_key_is_left_out(make: MakeDesk) -> None:
    desk = make(config=HIDING)
    scripted(desk, REPORT.format(line=1))
    for name in ("a.py", "b.py", "secret.py", "AGENTS.md", "long.py"):
        (desk.folder / name).write_text("one\n")
    git(desk.folder, "init", "-q", "-b", "main")
    commit(desk, "first")
    (desk.folder / "a.py").write_text(f"one\ntoken = '{TOKEN}'\n-----BEGIN RSA PRIVATE KEY-----\nhidden\n")
    (desk.folder / "secret.py").write_text("hidden\n")
    (desk.folder / "AGENTS.md").write_text("hidden\n")
    (desk.folder / ".env").write_text("A=hidden\n")
    (desk.folder / "blob.bin").write_bytes(b"\0hidden\xff")
    for n in range(150):
        (desk.folder / f"z{n:03}.py").write_text("".join(f"new {line}\n" for line in range(100)))
    (desk.folder / "minified.js").write_text("x" * 500_000)
    (desk.folder / "long.py").write_text("".join(f"number {n}\n" for n in range(9000)))
    prompt = await reviewed(desk)
    assert "hidden" not in prompt.partition("The changes to review")[2].replace("hidden or protected", "")
    assert TOKEN not in prompt
    assert "+[left out: it looks like a token]" in prompt
    named = prompt.partition("or no text: ")[2].partition("\n")[0]
    assert named == ".env, AGENTS.md, blob.bin, secret.py."
    assert "more lines left out; read long.py]" in prompt
    assert "[1 more line left out; read minified.js]" in prompt
    assert "+new 99\n" in prompt
    left_out = prompt.partition("with `read_file`: ")[2].partition("\n")[0]
    assert left_out.endswith("others."), "there is too much"
    assert 80_000 < len(prompt) < 115_000


async def test_git_executes_nothing_of_the_repository(desk: Desk, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "diff.x.command", "filter.x.clean"):
        git(desk.folder, "config", key, str(script))
    (desk.folder / ".gitattributes").write_text("*.py diff=x filter=x\n")
    text = (desk.folder / "a.py").read_text()
    (desk.folder / "a.py").write_text(text.replace("line 2\n", "two\n"))
    for prompt in ("/review", "/review branch"):
        assert "+two" in await reviewed(desk, prompt)
    assert not trap.exists()
    git(desk.folder, "diff")
    assert trap.exists(), "the trap works"


async def test_problems_are_listed_and_follow_their_lines(desk: Desk) -> None:
    turn = await ended(desk, prompt="/review", noDocument=True)
    assert kind_of(desk, turn) == "review"
    titles = {update["title"] for update in desk.updates(turn, "toolCall") if "title" in update}
    assert titles == {"warning a.py:3: The count is off by one.", "error b.py:1: No end."}, "in every chat"
    assert shown(desk) == {"a.py": [(2, 2, "The count is off by one.")], "b.py": [(0, 1, "No end.")]}
    path = desk.editor.open("a.py", (desk.folder / "a.py").read_text())
    desk.editor.type(path, (0, 0, "above\n"))
    assert shown(desk)["a.py"] == [(3, 2, "The count is off by one.")]
    at = desk.editor.text(path).index("line 3")
    desk.editor.type(path, (at, at, "my "))
    assert shown(desk) == {"b.py": [(0, 1, "No end.")]}
    await reviewed(desk)
    assert set(shown(desk)) == {"a.py", "b.py"}, "the next review begins anew"
    desk.editor.open("b.py", "other\n", on_disk=False)
    assert set(shown(desk)) == {"a.py"}, "the editor has other text"


async def test_a_problem_can_be_dismissed_or_fixed(desk: Desk) -> None:
    await reviewed(desk)
    path = desk.editor.open("a.py", (desk.folder / "a.py").read_text())
    actions = {action["title"]: action for action in await desk.actions(path, 2, triggerKind=2)}
    assert list(actions) == [
        "Fix: The count is off by one.",
        "Dismiss: The count is off by one.",
        "Dismiss all 2 problems",
    ]
    (fix,) = actions["Fix: The count is off by one."]["command"]["arguments"]
    turn = await ended(desk, **fix)
    assert "The count is off by one." in told(desk, turn)
    await desk.command("tark.problem.dismiss", *actions["Dismiss: The count is off by one."]["command"]["arguments"])
    assert set(shown(desk)) == {"b.py"}
    assert await desk.actions(path, 2, triggerKind=2) == []
    await desk.command("tark.problem.dismiss", *actions["Dismiss all 2 problems"]["command"]["arguments"])
    assert shown(desk) == {}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"path": "a.py", "line": 21}, "line 21 does not exist: a.py has 20 lines"),
        ({"path": "a.py", "line": 20, "end_line": 21}, "line 21 does not exist: a.py has 20 lines"),
        ({"path": "a.py", "line": 3, "end_line": 2}, "end_line 2 is before line 3"),
        ({"path": "a.py", "line": 0}, "line: Input should be greater than or equal to 1"),
        ({"path": "gone.py", "line": 1}, "gone.py: no such file"),
        ({"path": "../a.py", "line": 1}, "../a.py is outside the workspace"),
        ({"path": "secret.py", "line": 1}, "a rule hides secret.py from you"),
    ],
)
async def test_a_place_that_does_not_exist_is_refused(desk: Desk, arguments: Json, says: str) -> None:
    (desk.folder / "secret.py").write_text("A=1\n")
    pairs = ", ".join(f"{key} = {value!r}" for key, value in {**arguments, "message": "It is wrong."}.items())
    scripted(
        desk,
        'wire = "anthropic-messages"\n[[reply]]\ntool = "report_problem"\ntext = "Done."\n'
        f'[[reply]]\ncalls = [{{ name = "report_problem", arguments = {{ {pairs} }} }}]\n',
    )
    turn = await ended(desk, prompt="/review", noDocument=True)
    last = desk.updates(turn, "toolCall")[-1]
    assert last["status"] in ("failed", "rejected")
    assert says in last["content"][-1]["text"]
    assert shown(desk) == {}


async def test_only_a_review_can_report(desk: Desk) -> None:
    turn = await ended(desk, prompt="Look at a.py", noDocument=True)
    assert desk.updates(turn, "toolCall")[-1]["status"] == "failed"
    write(desk, "mine.md", "---\nkind: review\n---\nLook for races.\n", own=True)
    prompt = await reviewed(desk, "/mine")
    assert "+branch" in prompt
    assert prompt.endswith("Look for races.")
    assert set(shown(desk)) == {"a.py", "b.py"}, "a prompt that is based on it can"


@pytest.mark.parametrize(
    ("config", "begun", "why"),
    [
        ("", False, "the workspace is not in a git repository"),
        ("", True, "there is no revision HEAD in this repository"),
        ("workspaceTrusted = false", True, "you do not trust this workspace"),
    ],
)
async def test_where_git_cannot_say_what_changed(make: MakeDesk, config: str, begun: bool, why: str) -> None:
    desk = make(config=config)
    (desk.folder / "a.py").write_text(CODE)
    if begun:
        git(desk.folder, "init", "-q")
    turn = (await desk.command("tark.turn.start", {"prompt": "", "kind": "review", "noDocument": True}))["turnId"]
    message = (await desk.end(turn))["error"]["message"]
    assert message.startswith("nothing to review: ")
    assert why in message


async def test_a_rule_that_asks_about_git_still_asks(make: MakeDesk) -> None:
    desk = make(config='[permissions]\nask = ["run_command(git diff *)"]')
    scripted(desk, REPORT.format(line=1))
    (desk.folder / "a.py").write_text(CODE)
    git(desk.folder, "init", "-q")
    commit(desk, "first")
    edit(desk, "a.py", 3, "three")
    desk.connection.answers["tark/requestPermission"] = lambda _: {"outcome": "reject", "reason": "no"}
    turn = (await desk.command("tark.turn.start", {"prompt": "/review", "noDocument": True}))["turnId"]
    assert (await desk.end(turn))["error"]["message"] == "nothing to review: you said no: no"
