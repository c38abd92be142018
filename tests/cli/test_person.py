"""Answers of the terminal's person: typed answers to each question, --yes, and nobody to ask."""

import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tark_lsp.cli.choices import HunkChoices
from tark_lsp.cli.editor import edit_text
from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.screen import Screen
from tark_lsp.errors import RequestError


class Typist(Keyboard):
    """A keyboard whose lines are written beforehand; after the last the input has ended."""

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__()
        self.lines = list(lines)
        self.questions: list[str] = []

    async def ask(self, question: str, keys: str = "", *, at_once: bool = False) -> str | None:
        assert not (keys and at_once), "a key is never read at once"
        self.questions.append(question)
        return self.lines.pop(0) if self.lines else None


def person(*lines: str, yes: bool = False, nobody: bool = False) -> tuple[TerminalPerson, Typist, io.StringIO]:
    out, typist = io.StringIO(), Typist(lines)
    screen = Screen(Console(file=out, highlight=False, markup=False), Path("/ws"))
    return TerminalPerson(screen, None if nobody else typist, yes=yes), typist, out


SCOPES = ("turn", "session")


def hunk(name: str) -> dict[str, Any]:
    return {"hunkId": name, "range": {"start": {"line": 0}}, "oldText": "a\n", "newText": f"{name}\n"}


def edit(*hunks: str, grants: bool = True) -> dict[str, Any]:
    return {
        "title": "edit a.py",
        "toolKind": "edit",
        "risk": "write",
        "why": "edits inside the workspace",
        "edits": [{"uri": "file:///ws/a.py", "version": 1, "hunks": [hunk(name) for name in hunks]}],
        "grants": [{"id": f"{scope}-1", "covers": f"edits in /ws, this {scope}"} for scope in SCOPES] if grants else [],
    }


COMMAND: dict[str, Any] = {
    "title": "run_command",
    "toolKind": "execute",
    "risk": "risky",
    "why": "it runs a command",
    "command": {"argv": ["rm"], "text": "rm -r \x1b[2J", "cwd": "/ws", "env": {"A": "b"}},
    "grants": [{"id": "turn", "covers": "rm in /ws"}],
}

WIDE = "`pytest ...` with any arguments in this folder"
TESTS: dict[str, Any] = {
    **COMMAND,
    "command": {"argv": ["bash", "-c", "pytest -q"], "text": "pytest -q", "cwd": "/ws", "env": {}},
    "grants": [
        {"id": "turn", "scope": "turn", "covers": "`pytest -q` in this folder, this turn"},
        {"id": "session", "scope": "session", "covers": "`pytest -q` in this folder, this session"},
        {"id": "wide", "scope": "session", "covers": f"{WIDE}, this session"},
        {"id": "always", "scope": "always", "covers": "`pytest -q` in this folder, always"},
        {"id": "any", "scope": "always", "covers": f"{WIDE}, always"},
    ],
}

ECHO: dict[str, Any] = {
    "title": 'mcp__toy__echo {"a": 1}',
    "toolKind": "other",
    "risk": "risky",
    "why": "it calls a tool of an MCP server",
    "grants": [
        {"id": scope, "scope": scope, "covers": f"calls of mcp__toy__echo with any arguments, this {scope}"}
        for scope in SCOPES
    ],
}

ANSWERS: list[tuple[str, dict[str, Any], tuple[str, ...], dict[str, Any]]] = [
    ("yes", edit("h"), ("y",), {"outcome": "allow"}),
    ("Yes in full", edit("h"), ("YES",), {"outcome": "allow"}),
    ("no", edit("h"), ("n",), {"outcome": "reject"}),
    ("no, and why", edit("h"), ("n  Use the other  one",), {"outcome": "reject", "reason": "Use the other  one"}),
    ("no with its word, and why", COMMAND, ("No too slow",), {"outcome": "reject", "reason": "too slow"}),
    ("yes with words decides nothing", edit("h"), ("y but slowly", "now then", "n"), {"outcome": "reject"}),
    ("all", edit("h"), ("a",), {"outcome": "allow", "grant": "turn-1"}),
    ("the first of many grants", TESTS, ("1",), {"outcome": "allow", "grant": "turn"}),
    ("the last of many grants", TESTS, ("a", "6", "5"), {"outcome": "allow", "grant": "any"}),
    ("an MCP call, for the turn", ECHO, ("a", "1"), {"outcome": "allow", "grant": "turn"}),
    ("an MCP call, for the session", ECHO, ("2",), {"outcome": "allow", "grant": "session"}),
    ("Enter decides nothing", edit("h"), ("", "", "n"), {"outcome": "reject"}),
    ("anything else decides nothing", edit("h"), ("ok", "1", "y"), {"outcome": "allow"}),
    ("no grant, no all", edit("h", grants=False), ("a", "n"), {"outcome": "reject"}),
    ("one hunk, no h", edit("h"), ("h", "n"), {"outcome": "reject"}),
    ("hunk by hunk", edit("h", "i"), ("h", "n", "", "y"), {"outcome": "allow", "hunks": ["i"]}),
    ("no hunk at all", edit("h", "i"), ("h", "n", "n"), {"outcome": "reject"}),
    ("the input ends", edit("h"), (), {"outcome": "cancelled"}),
    ("a command", COMMAND, ("y",), {"outcome": "allow"}),
]


@pytest.mark.parametrize(
    ("request_", "lines", "expected"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS]
)
async def test_permission(request_: dict[str, Any], lines: tuple[str, ...], expected: dict[str, Any]) -> None:
    someone, typist, _ = person(*lines)
    assert await someone.permission(request_) == expected
    assert typist.lines == []


async def test_requests_are_shown_completely_and_harmlessly() -> None:
    someone, typist, out = person("n", "n")
    await someone.permission(COMMAND)
    await someone.permission(edit("h", "i"))
    for text in ("rm -r \\u{1b}[2J", "in /ws", "with A=b", "run_command: it runs a command", "-a\n+h", "+i"):
        assert text in out.getvalue()
    assert typist.questions[1] == "Apply? [y]es, [n]o, [r]eason, [a]ll edits in /ws, this turn, [h]unk by hunk, [?]: "


async def test_both_grants_of_an_mcp_call_are_listed() -> None:
    someone, typist, out = person("n")
    await someone.permission(ECHO)
    for key, scope in enumerate(SCOPES, 1):
        assert f"  {key}  allow calls of mcp__toy__echo with any arguments, this {scope}\n" in out.getvalue()
    assert typist.questions == ["Allow? [y]es, [n]o, [r]eason, [1], [2], [?]: "]


async def test_an_invalid_answer_gets_a_message() -> None:
    someone, _, out = person("ok", "n")
    await someone.permission(COMMAND)
    assert "answer with a letter and Enter: y, n, r, a, ?" in out.getvalue()


async def test_the_environment_of_this_terminal_is_shown_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("HOME", "/home/me")
    env = {"PATH": "/usr/bin", "HOME": "/home/\x1bother", "TERM": "dumb"}
    request = {**COMMAND, "command": {**COMMAND["command"], "env": env}}
    someone, _, out = person("n")
    await someone.permission(request)
    assert "with HOME=/home/\\u{1b}other TERM=dumb and 1 as in this terminal (? shows all)" in out.getvalue()
    assert "PATH=" not in out.getvalue()
    someone, _, out = person("?", "n")
    await someone.permission(request)
    assert "with PATH=/usr/bin\n" in out.getvalue()


async def test_without_a_yes_option_none_is_mentioned() -> None:
    out = io.StringIO()
    someone = TerminalPerson(Screen(Console(file=out), Path("/ws")), None, yes=None)
    assert (await someone.permission(edit("h")))["outcome"] == "reject"
    assert "nobody can be asked" in out.getvalue()
    assert "--yes" not in out.getvalue()


FAR = f"{'x' * 300}/the-end"
LONG: list[tuple[str, dict[str, Any]]] = [
    ("title", {"title": f"fetch https://example.org/{FAR}"}),
    ("why", {"why": FAR}),
    ("cwd", {"command": {**COMMAND["command"], "cwd": FAR}}),
    ("environment", {"command": {**COMMAND["command"], "env": {"PATH": FAR}}}),
    ("path of an edit", {"edits": [{"uri": f"file:///ws/{FAR}", "version": 1, "hunks": [hunk("h")]}]}),
]


@pytest.mark.parametrize("more", [row[1] for row in LONG], ids=[row[0] for row in LONG])
async def test_a_request_has_no_hidden_end(more: dict[str, Any]) -> None:
    someone, _, out = person("n")
    await someone.permission({**COMMAND, "grants": [], **more})
    assert FAR in out.getvalue()


async def test_a_grant_has_no_hidden_end() -> None:
    someone, typist, out = person("n", "1")
    await someone.permission({**COMMAND, "grants": [{"id": "turn", "covers": FAR}]})
    await someone.input({"question": "Which?", "options": [{"id": "a", "label": FAR}]})
    assert FAR in typist.questions[0]
    assert FAR in out.getvalue()


@pytest.mark.parametrize(
    ("request_", "allowed"), [(edit("h"), True), (edit("h", grants=False), False), (COMMAND, False)]
)
async def test_yes_allows_ordinary_edits_and_nothing_else(request_: dict[str, Any], allowed: bool) -> None:
    someone, _, out = person(yes=True, nobody=True)
    answer = await someone.permission(request_)
    assert answer["outcome"] == ("allow" if allowed else "reject")
    assert ("nobody can be asked" in out.getvalue()) is not allowed
    someone, typist, _ = person("n", yes=True)
    assert (await someone.permission(request_))["outcome"] == ("allow" if allowed else "reject")
    assert len(typist.questions) == (0 if allowed else 1)


async def test_without_a_terminal_requests_are_refused_with_a_hint() -> None:
    someone, _, out = person(nobody=True)
    assert (await someone.permission(edit("h")))["outcome"] == "reject"
    assert "--yes" in out.getvalue()
    assert await someone.choose("Trust this folder?", ["Trust", "Not now"]) is None
    assert await someone.input({"question": "Which?", "options": [{"id": "a", "label": "A"}]}) == {"answer": None}
    assert await someone.choose_hunks([("file:///ws/a.py", hunk("h"))]) == HunkChoices()


OPTIONS = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
INPUTS: list[tuple[dict[str, Any], tuple[str, ...], Any]] = [
    ({"question": "Why?", "freeText": True}, ("because",), "because"),
    ({"question": "Why?", "freeText": True}, ("",), None),
    ({"question": "Which?", "options": OPTIONS, "freeText": False}, ("3", "x", "2"), ["b"]),
    ({"question": "Which?", "options": OPTIONS, "freeText": False}, ("1 2", "1"), ["a"]),
    ({"question": "Which?", "options": OPTIONS, "multiple": True, "freeText": False}, ("1, 2",), ["a", "b"]),
    ({"question": "Which?", "options": OPTIONS, "freeText": True}, ("neither",), "neither"),
    ({"question": "Which?", "options": OPTIONS}, (), None),
]


@pytest.mark.parametrize(("question", "lines", "answer"), INPUTS)
async def test_input(question: dict[str, Any], lines: tuple[str, ...], answer: Any) -> None:
    someone, typist, _ = person(*lines)
    assert await someone.input(question) == {"answer": answer}
    assert typist.lines == []


@pytest.mark.parametrize(("lines", "title"), [(("2",), "Not now"), (("9", "1"), "Trust"), (("",), None), ((), None)])
async def test_choose(lines: tuple[str, ...], title: str | None) -> None:
    someone, _, _ = person(*lines)
    assert await someone.choose("Trust?", ["Trust", "Not now"]) == title


HUNKS = [("file:///ws/a.py", hunk(name)) for name in "hij"]
DECIDED: list[tuple[str, tuple[str, ...], HunkChoices | None]] = [
    ("one by one", ("y", "n", "y"), HunkChoices(["h", "j"])),
    ("all the rest", ("n", "a"), HunkChoices(["i", "j"])),
    ("done", ("y", "d"), HunkChoices(["h"])),
    ("words that only begin so decide nothing", ("yesterday", "now", "?", "done"), HunkChoices()),
    ("the end of the input is no yes", ("y",), None),
    ("edited", ("e", "y", "n", "n"), HunkChoices(["h"], {"h": "h\n# mine\n"})),
    ("edited twice, then left out", ("e", "e", "n", "d"), HunkChoices([], {"h": "h\n# mine\n# mine\n"})),
]


@pytest.mark.parametrize(("lines", "expected"), [row[1:] for row in DECIDED], ids=[row[0] for row in DECIDED])
async def test_hunks_are_chosen(lines: tuple[str, ...], expected: HunkChoices | None) -> None:
    async def edit(text: str, uri: str) -> str:
        assert uri.endswith("a.py")
        return text + "# mine\n"

    typist, out = Typist(lines), io.StringIO()
    screen = Screen(Console(file=out, highlight=False, markup=False), Path("/ws"))
    assert await TerminalPerson(screen, typist, yes=False, edit=edit).choose_hunks(HUNKS) == expected
    assert typist.lines == []
    assert ("# mine" in out.getvalue()) == bool(expected and expected.edited)
    assert ("this list" in out.getvalue()) == ("?" in lines)


async def test_an_edited_hunk_is_sent_and_a_missing_editor_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!{sys.executable}\nimport sys\nopen(sys.argv[1], "a").write("# mine\\n")\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", "")
    typist, out = Typist(["h", "e", "e", "y"]), io.StringIO()
    screen = Screen(Console(file=out, highlight=False, markup=False), Path("/ws"))
    someone = TerminalPerson(screen, typist, yes=False, edit=edit_text)
    monkeypatch.delenv("EDITOR", raising=False)
    asked = typist.ask

    async def ask(question: str, keys: str = "", *, at_once: bool = False) -> str | None:
        if len(typist.questions) == 2:
            monkeypatch.setenv("EDITOR", str(editor))
        return await asked(question, keys, at_once=at_once)

    monkeypatch.setattr(typist, "ask", ask)
    answer = await someone.permission(edit("h"))
    assert "no editor is set" in out.getvalue()
    assert answer == {"outcome": "allow", "hunks": ["h"], "edited": [{"hunkId": "h", "newText": "h\n# mine\n"}]}


async def test_an_editor_of_the_current_folder_is_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own, mark = tmp_path / "own" / "editor", tmp_path / "run_by_repository"
    for program, line in ((tmp_path / "editor", f"touch {mark}"), (own, 'echo "# mine" >> "$2"')):
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VISUAL", "editor --wait")
    monkeypatch.setenv("PATH", f".::{own.parent}")
    assert await edit_text("h\n", "file:///a.py") == "h\n# mine\n"
    monkeypatch.setenv("PATH", ".:")
    with pytest.raises(RequestError, match="editor: it is not in PATH"):
        await edit_text("h\n", "file:///a.py")
    assert not mark.exists()


async def test_many_grants_are_listed_with_their_keys() -> None:
    someone, typist, out = person("n")
    await someone.permission(TESTS)
    shown = out.getvalue()
    assert "  1  allow exactly this command in this folder, this turn" in shown
    assert f"  5  allow {WIDE}, always" in shown
    assert typist.questions[0].startswith("Allow? [y]es, [n]o, [r]eason, [1], [2], [3], [4], [5], [?]")
