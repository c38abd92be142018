"""The pure parts of hooks, as tables: whom an event reaches, what an answer means, what a formatter can change."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.hook_problems import hook_problems
from tark_lsp.agent.hooking import names_of
from tark_lsp.errors import HookError
from tark_lsp.hook_settings import HookEvent, HookSettings
from tark_lsp.hooks.hook import CAN_ANSWER, Hook, HookAnswer, is_for_file, read_answer
from tark_lsp.hooks.hunk_text import keep_to_hunks
from tark_lsp.hooks.pinning import SETTINGS, read_offers, resolve_hook
from tark_lsp.tools import load_tools
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.globs import Glob
from tark_lsp.workspace.lines import line_changes, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.cases import every
from tests.memory import MemoryBuffers

FILE = Path("/project/a.py")


def hook(**settings: Any) -> Hook:
    values = {"name": "h", "on": "beforeTool", "command": "check", **settings}
    return Hook(SETTINGS.validate_python(values, by_alias=True, by_name=False))


LISTENS: list[tuple[dict[str, Any], tuple[HookEvent, str, str], bool]] = [
    ({}, ("beforeTool", "run_command", ""), True),
    ({}, ("afterTool", "run_command", ""), False),
    ({"enabled": False}, ("beforeTool", "run_command", ""), False),
    ({"tools": ["run_*"]}, ("beforeTool", "run_command", ""), True),
    ({"tools": ["run_*"]}, ("beforeTool", "edit_file", ""), False),
    ({"on": "beforeEdit", "files": ["*.py"]}, ("beforeEdit", "edit_file", "src/a.py"), True),
    ({"on": "beforeEdit", "files": ["*.py"]}, ("beforeEdit", "edit_file", "src/a.js"), False),
    ({"on": "turnStart", "tools": ["run_*"]}, ("turnStart", "", ""), True),
]


@every("row", LISTENS, str)
def test_which_events_reach_a_hook(row: tuple[dict[str, Any], tuple[HookEvent, str, str], bool]) -> None:
    settings, event, expected = row
    assert hook(**settings).listens(*event) is expected


FILES: list[tuple[str, str, bool]] = [
    ("src/*", "src/a.py", True),
    ("src/*", "src/in/a.py", False),
    ("src/*", "tests/a.py", False),
    ("src/**", "src/in/a.py", True),
    ("src/", "src/in/a.py", True),
    ("**/secrets.toml", "secrets.toml", True),
    ("**/secrets.toml", "in/secrets.toml", True),
    ("secrets.toml", "in/secrets.toml", True),
    ("./a.txt", "a.txt", True),
    ("/a.txt", "a.txt", True),
    ("A.TXT", "a.txt", True),
    ("a.txt", "A.TXT", True),
    ("[!A].txt", "a.txt", True),
    ("stra\u00dfe", "STRASSE", True),
    ("e\u0301.py", "\u00e9.py", True),
    ("*.{py,pyi}", "src/a.pyi", True),
    ("/home/me/p/*.py", "/home/me/p/a.py", True),
    ("home/**", "/home/me/p/a.py", False),
    ("**/a.py", "/home/me/p/a.py", False),
    ("{" * 100, "a.py", True),
]


@every("row", FILES, str)
def test_which_files_a_glob_is_for(row: tuple[str, str, bool]) -> None:
    glob, name, expected = row
    assert hook(on="beforeEdit", files=[glob]).listens("beforeEdit", "edit_file", name) is expected


@given(st.text(alphabet="ab*?/{,}", min_size=1, max_size=12), st.text(alphabet="ab/", max_size=12))
def test_a_glob_of_a_rule_is_for_the_same_files(glob: str, name: str) -> None:
    name = "/".join(part for part in name.split("/") if part) or "a"
    assert is_for_file(glob, name) is Glob.parse(glob).matches(name)


def test_a_file_has_a_name_in_each_folder(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    edit = ProposedEdit.between(Snapshot(folders[1] / "src" / "a.py", ""), "x")
    names = names_of(Workspace(folders, MemoryBuffers()), edit)
    assert names == ["src/a.py", (folders[1] / "src" / "a.py").as_posix()]


ANSWERS: list[tuple[HookEvent, int, Any, HookAnswer | str]] = [
    ("beforeTool", 0, b"", HookAnswer()),
    ("beforeTool", 0, {}, HookAnswer()),
    ("beforeTool", 0, {"decision": "deny", "reason": "no"}, HookAnswer(deny="no")),
    ("beforeTool", 0, {"decision": "deny"}, HookAnswer(deny="it gave no reason")),
    ("beforeTool", 0, {"decision": "ask", "reason": "look"}, HookAnswer(ask="look")),
    ("beforeTool", 0, {"arguments": {"a": 1}}, HookAnswer(arguments={"a": 1})),
    ("beforeTool", 2, b"garbage", HookAnswer(deny="from stderr")),
    ("turnStart", 2, b"", HookAnswer(deny="from stderr")),
    ("beforeEdit", 0, {"text": ""}, HookAnswer(text="")),
    ("afterTool", 0, {"context": "x"}, HookAnswer(context="x")),
    ("afterEdit", 0, b" \n", HookAnswer()),
    ("turnEnd", 0, {}, HookAnswer()),
    ("turnEnd", 0, b"hello world", "not JSON on stdout (on stderr: from stderr): hello world"),
    ("turnEnd", 0, {"decision": "deny"}, "'decision', which turnEnd does not have"),
    ("afterEdit", 0, {"context": "x"}, "'context', which afterEdit does not have"),
    ("beforeTool", 126, b"", "ended with exit code 126: from stderr (is the file executable?"),
    ("beforeTool", 0, {"decision": "allow"}, "a hook cannot allow anything"),
    ("beforeTool", 0, {"decision": ["deny"]}, "a hook cannot allow anything"),
    ("turnStart", 0, {"decision": "ask"}, 'a decision that is not "deny"'),
    ("beforeTool", 0, {"text": "x"}, "'text', which beforeTool does not have"),
    ("afterTool", 0, {"decision": "deny"}, "'decision', which afterTool does not have"),
    ("sessionStart", 2, b"", "ended with exit code 2: from stderr"),
    ("afterTool", 2, b"", "ended with exit code 2: from stderr"),
    ("beforeTool", 1, {"decision": "deny"}, "ended with exit code 1: from stderr"),
    ("beforeTool", -9, b"", "ended by signal 9"),
    ("beforeTool", 0, b"ok\n", "not JSON"),
    ("beforeTool", 0, b"\xff", "not JSON"),
    ("beforeTool", 0, b"[" * 100_000, "not JSON"),
    ("beforeTool", 0, b"[]", "not an object"),
    ("beforeTool", 0, {"context": 1}, "context that is not a text"),
    ("beforeTool", 0, b'{"context": "\\ud800"}', "context that is not a text"),
    ("beforeEdit", 0, {"text": ["x"]}, "text that is not a text"),
    ("beforeTool", 0, {"arguments": "x"}, "arguments that are not an object"),
]


@every("row", ANSWERS, str)
def test_what_an_answer_means(row: tuple[HookEvent, int, Any, HookAnswer | str]) -> None:
    event, code, stdout, expected = row
    given_bytes = stdout if isinstance(stdout, bytes) else json.dumps(stdout).encode()
    if isinstance(expected, HookAnswer):
        assert read_answer(event, code, given_bytes, "from stderr") == expected
        return
    with pytest.raises(HookError) as caught:
        read_answer(event, code, given_bytes, "from stderr")
    assert expected in caught.value.message


PROBLEMS: list[tuple[dict[str, Any], list[str]]] = [
    ({"tools": ["run_*", "edit_file", "mcp__*", "*_delete"]}, []),
    ({"tools": ["Bash"], "enabled": False}, []),
    ({"tools": ["Bash"], "on": "turnStart"}, []),
    ({"tools": ["Bash", "Edit(x)", "foo"]}, ["Bash (here: run_command,", "Edit(x) (here: edit_file,", ", foo"]),
    ({"on": "beforeEdit", "tools": ["Write"]}, ["the hook h does not run for these names", "Write (here: write_file)"]),
    ({"on": "beforeEdit", "files": ["{" * 100]}, ["the hook h runs for every file: the glob is too long"]),
]


@every("row", PROBLEMS, str)
def test_settings_that_have_no_effect(row: tuple[dict[str, Any], list[str]]) -> None:
    settings, expected = row
    problems = hook_problems([hook(**settings)], load_tools())
    assert len(problems) == (1 if expected else 0)
    assert all(text in problems[0] for text in expected)


def test_hooks_of_one_name() -> None:
    assert hook_problems([hook(), hook()], load_tools()) == ["2 hooks have the name h; give each its own"]


def test_no_event_can_allow() -> None:
    assert not any("allow" in can for can in CAN_ANSWER.values())


BASE = "a\nb\nc\nd\ne\nf\ng\nh\n"
FORMATTED = [
    # base, proposed, answered, kept, dropped
    (BASE, BASE.replace("d", "D( )"), BASE.replace("d", "D()"), BASE.replace("d", "D()"), ()),
    (BASE, BASE.replace("d", "D"), BASE.replace("d", "D1\nD2"), BASE.replace("d", "D1\nD2"), ()),
    (BASE, BASE.replace("d", "D"), BASE.replace("d", "D").replace("a", "A"), BASE.replace("d", "D"), (1,)),
    (BASE, BASE.replace("d", "D"), BASE.replace("d", "Y").replace("c", "X"), BASE.replace("d", "Y"), (3,)),
    (BASE, BASE.replace("d\n", ""), BASE.replace("d\n", "x\n"), BASE.replace("d\n", ""), (4,)),
    (BASE, BASE.replace("d", "D"), BASE, BASE, ()),
    (BASE, BASE.replace("d", "D"), "", BASE.replace("d", "D"), (1,)),
    ("", "x\ny\n", "x\n\ny\n", "x\n\ny\n", ()),
    ("a\nb", "a\nB", "a\nB\n", "a\nB\n", ()),
    ("a\r\nb\r\n", "a\r\nB\r\n", "a\nB()\n", "a\r\nB()\r\n", ()),
    ("a\nb\n", "a\nB\n", "a\r\nB()\r\n", "a\nB()\n", ()),
    ("a\r\nb\n", "a\r\nB\n", "a\nB()\n", "a\r\nB()\n", (1,)),
    ("b\n", "B\n", "\ufeffB()\n", "B()\n", ()),
    ("", "x\n", "x\r\n", "x\r\n", ()),
]


@every("row", FORMATTED, str)
def test_a_formatter_changes_the_lines_of_the_edit_only(row: tuple[str, str, str, str, tuple[int, ...]]) -> None:
    base, proposed, answered, kept, dropped = row
    found = keep_to_hunks(ProposedEdit.between(Snapshot(FILE, base), proposed), answered)
    assert (found.text, found.dropped) == (kept, dropped)


TEXTS = st.text(alphabet="ab\n", max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_whatever_it_answers_the_other_lines_stay(base: str, proposed: str, answered: str) -> None:
    edit = ProposedEdit.between(Snapshot(FILE, base), proposed)
    kept = keep_to_hunks(edit, answered).text
    lines, at, outside = split_lines(base), 0, list[str]()
    for hunk in edit.hunks:
        outside += ["".join(lines[at : hunk.start])]
        at = hunk.end
    outside += ["".join(lines[at:])]
    position = 0
    for text in outside:  # in order, and the ends at the ends
        found = kept.find(text, position)
        assert found >= 0
        position = found + len(text)
    assert kept.startswith(outside[0])
    assert kept.endswith(outside[-1])
    assert line_changes(kept, kept) == []


OFFERED = {
    "a good one": ('name="f"\non="beforeEdit"\ncommand="fmt"', ""),
    "without a sandbox": ('name="f"\non="beforeEdit"\ncommand="fmt"\nsandbox=false', "always runs in the sandbox"),
    "with network": ('name="f"\non="beforeEdit"\ncommand="fmt"\nnetwork=true', "always runs in the sandbox"),
    "the name of yours": ('name="mine"\non="beforeEdit"\ncommand="fmt"', "there is another hook mine"),
    "no such event": ('name="f"\non="beforeLunch"\ncommand="fmt"', "hook 1: on must be 'sessionStart', 'turn"),
    "no command": ('name="f"\non="beforeEdit"', "hook 1: command is missing"),
    "a setting of no hook": ('name="f"\non="turnEnd"\ncommand="f"\nfile=[]', "hook 1: file is not a setting of a hook"),
    "a text for a list": ('name="f"\non="turnEnd"\ncommand="f"\ntools="x"', "hook 1: tools must be a list"),
    "not TOML": ("name=", "cannot be read as TOML"),
}


@pytest.mark.parametrize("name", OFFERED)
def test_offers(name: str, tmp_path: Path) -> None:
    text, problem = OFFERED[name]
    (tmp_path / ".tark").mkdir()
    (tmp_path / ".tark" / "hooks.toml").write_text(f"[[hooks]]\n{text}\n")
    found = read_offers([tmp_path], ["mine"])
    assert bool(found.hooks) == (problem == "")
    assert problem in "".join(found.problems)


def test_the_digest_is_of_all_that_decides_what_runs(tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_text("#!/bin/sh\n")
    whole = {"command": "/bin/sh", "args": ["check.sh"]}

    def digest(**more: Any) -> str:
        return resolve_hook(hook(**{**whole, **more}), [tmp_path]).digest

    first = digest()
    assert digest() == first == digest(enabled=False)
    others = [digest(on="afterTool"), digest(args=["check.sh", "-x"]), digest(tools=["edit_*"]), digest(name="other")]
    script.write_text("#!/bin/sh\nrm -rf .\n")
    assert len({first, *others, digest()}) == 6


def test_settings_have_limits() -> None:
    for wrong in ({"timeoutSeconds": 0}, {"timeoutSeconds": 601}, {"name": "a b"}, {"command": ""}, {"on": "x"}):
        with pytest.raises(ValueError):  # noqa: PT011  # pydantic's own message
            hook(**wrong)
    assert isinstance(hook().settings, HookSettings)
