"""What the options of `tark-lsp run` answer in advance, and what they leave to you."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tark_lsp.cli.running.allowed_commands import AllowedCommands
from tark_lsp.cli.running.person import RunPerson
from tark_lsp.cli.screen import Screen
from tark_lsp.permissions import TRUST_ANSWERS

GRANT = [{"id": "turn", "covers": "it"}]
LIMIT = [{"id": "stop", "label": "Stop"}, {"id": "go-on", "label": "Continue"}]


def person(*rules: str, limited: bool = False, typed: str | None = None) -> tuple[RunPerson, io.StringIO]:
    out = io.StringIO()

    class Typist:
        async def ask(self, question: str, keys: str = "", *, at_once: bool = False) -> str | None:
            assert question
            assert not (keys and at_once)
            return typed

    screen = Screen(Console(file=out, width=200), Path("/ws"))
    keyboard = None if typed is None else Typist()
    allowed = AllowedCommands(rules)
    return RunPerson(screen, keyboard, yes=True, allowed=allowed, limited=limited, follow=lambda _: None), out


def command(text: str, **more: Any) -> dict[str, Any]:
    shown = {"title": text, "why": "it runs a command", "command": {"text": text, "cwd": "/ws", "env": {}}}
    return {**shown, "grants": GRANT, **more}


def in_sandbox(text: str, **gets: Any) -> dict[str, Any]:
    shown = command(text)
    shown["command"] |= {"sandboxed": True, "network": False, "writable": [], **gets}
    return shown


COMMANDS: list[tuple[str, dict[str, Any], str]] = [
    ("it matches", command("pytest -q"), "allow"),
    ("it does not match", command("ls"), "reject"),
    ("dangerous, or an ask rule, or unsaved files", command("pytest -q", grants=[]), "reject"),
    ("two commands", command("pytest -q; ls"), "reject"),
    ("more than the sandbox gives", in_sandbox("pytest", network=True), "reject"),
    ("a path outside", in_sandbox("pytest", writable=["/x"]), "reject"),
    ("in the sandbox", in_sandbox("pytest"), "allow"),
    (
        "an edit that has to be asked about",
        {"title": "x", "why": "a protected path", "edits": [], "grants": []},
        "reject",
    ),
]


@pytest.mark.parametrize(("request_", "outcome"), [row[1:] for row in COMMANDS], ids=[row[0] for row in COMMANDS])
async def test_allow(request_: dict[str, Any], outcome: str) -> None:
    someone, _ = person("run_command(pytest *)", "fetch(example.org)")
    assert (await someone.permission(request_))["outcome"] == outcome


async def test_it_is_said_once_that_there_is_no_sandbox() -> None:
    someone, out = person("run_command(pytest *)", "run_command(ls)")
    for text in ("pytest", "ls", "pytest -q"):
        assert (await someone.permission(command(text)))["outcome"] == "allow"
    assert out.getvalue() == "--allow: commands like pytest *, ls run without a sandbox, and without asking\n"


async def test_trust_is_never_asked_and_what_that_means_is_said_once_if_it_matters() -> None:
    someone, out = person("run_command(pytest *)", typed="y")
    options = [{"id": one, "label": label} for one, label in TRUST_ANSWERS.items()]
    trust = {"question": "do you trust it?", "options": options, "multiple": False, "freeText": False}
    assert await someone.input(trust) == {"answer": ["not-now"]}
    assert (await someone.permission(in_sandbox("pytest")))["outcome"] == "allow"
    assert out.getvalue() == ""
    for _ in range(2):
        assert (await someone.permission(in_sandbox("make")))["outcome"] == "allow"
    assert out.getvalue().count("--trust-workspace trusts it for this run") == 1


async def test_a_refusal_names_the_rule() -> None:
    someone, out = person()
    await someone.permission(command("npm run 'x y'"))
    assert "would allow it" not in out.getvalue()
    await someone.permission(command("npm  run 'x'"))
    assert "--allow 'run_command(npm run x)' would allow it" in out.getvalue()


async def test_a_refused_mcp_call_names_the_rule() -> None:
    someone, out = person()
    asked = {"title": 'mcp__ok__echo {"text": "x"}', "why": "it calls a tool of an MCP server"}
    assert (await someone.permission({**asked, "grants": []}))["outcome"] == "reject"
    assert "would allow it" not in out.getvalue()  # no rule can allow it
    assert (await someone.permission({**asked, "grants": GRANT}))["outcome"] == "reject"
    assert out.getvalue().endswith("--yes does not allow it\n--allow mcp__ok__echo would allow it\n")


async def test_an_mcp_call_that_needs_trust_names_the_option() -> None:
    someone, out = person("mcp__ok__echo")
    options = [{"id": one, "label": label} for one, label in TRUST_ANSWERS.items()]
    call = {"kind": "toolCall", "toolCallId": "c"}
    someone.update({**call, "status": "pending", "name": "mcp__ok__echo", "title": "mcp__ok__echo {}"})
    assert await someone.input({"question": "do you trust it?", "options": options}) == {"answer": ["not-now"]}
    assert "--trust-workspace" not in out.getvalue()
    for _ in range(2):
        someone.update({**call, "status": "rejected"})
    assert "no MCP server is used; --trust-workspace trusts it for this run" in " ".join(out.getvalue().split())
    assert out.getvalue().count("--trust-workspace") == 1


@pytest.mark.parametrize(
    ("limited", "options", "answer"),
    [(True, LIMIT, None), (False, LIMIT, ["go-on"]), (True, [{"id": "a", "label": "A"}, LIMIT[0]], ["stop"])],
)
async def test_a_limit_of_the_command_line_is_final(limited: bool, options: list[Any], answer: Any) -> None:
    someone, _ = person(limited=limited, typed="2")
    assert await someone.input({"question": "Continue?", "options": options, "freeText": False}) == {"answer": answer}
