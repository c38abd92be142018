"""What is decided about commands: where they run, what they get, who allowed them. One table."""

from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Allow, Ask, Deny, Policy, decide_call
from tark_lsp.agent.grants import Grant, grants_for
from tark_lsp.agent.rules import Rule
from tark_lsp.commands.shell_text import read_command
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.command import Command
from tark_lsp.tools.danger import danger_of
from tark_lsp.tools.tool import Preview, Risk, ToolKind
from tests.agent.test_approval import IDS, ROOT, WORKSPACE

BALANCED = Policy(ApprovalLevel.BALANCED, trusted=True)
CAREFUL, MANUAL = replace(BALANCED, level=ApprovalLevel.CAREFUL), replace(BALANCED, level=ApprovalLevel.MANUAL)


def runs(text: str, **facts: object) -> Preview:
    """As run_command makes it in a working sandbox, unless `confined` is False."""
    words = read_command(text)
    command = Command(("/bin/bash", "-c", text), text, ROOT, parts=words.parts, unclear=words.why, confined=True)
    risk = Risk.DANGEROUS if danger_of(text) else Risk.RISKY
    return Preview(text, ToolKind.EXECUTE, risk, command=replace(command, **facts))  # type: ignore[arg-type]  # by name


def decide(preview: Preview, policy: Policy) -> Allow | Ask | Deny:
    return decide_call("run_command", preview, policy, WORKSPACE)


PLAIN = runs("pytest -q && make lint")
OUTSIDE = Path("/elsewhere")
ASKED: list[tuple[str, Preview, Policy, str]] = [
    ("careful", PLAIN, CAREFUL, "runs a command in a sandbox"),
    ("manual", PLAIN, MANUAL, "runs a command in a sandbox"),
    ("manual, only reads", runs("ls", reads_only=True), MANUAL, "only reads"),
    ("not certain", runs("pytest $X"), BALANCED, "not certain what it runs"),
    ("redirects", runs("make >log"), BALANCED, "it redirects"),
    ("dangerous", runs("rm -rf build"), BALANCED, "undo does not take back"),
    (
        "no undo",
        runs("make", checkpoint="its folders have 1.3 GB"),
        BALANCED,
        "undo could not take back what it changes",
    ),
    ("network", runs("pip install x", network=True), BALANCED, "with the network"),
    ("outside", runs("make", writable=(OUTSIDE,)), BALANCED, "with write access to /elsewhere"),
    ("protected", runs("git commit", writable=(ROOT / ".git",)), BALANCED, ".git is a protected path"),
    ("no sandbox", runs("make", confined=False), BALANCED, "it runs a command without a sandbox"),
    ("not trusted", PLAIN, replace(BALANCED, trusted=False), "have not said that you trust"),
    ("hidden files", PLAIN, replace(BALANCED, deny=(Rule.parse("read_file(keys/**)"),)), "about reading"),
    ("ask rule", PLAIN, replace(BALANCED, ask=(Rule.parse("run_command(make *)"),)), "the rule run_command"),
    ("unsaved", replace(PLAIN, unsaved=(ROOT / "a.py",)), BALANCED, "not saved"),
]


@pytest.mark.parametrize(("preview", "policy", "why"), [row[1:] for row in ASKED], ids=[row[0] for row in ASKED])
def test_these_are_asked_about(preview: Preview, policy: Policy, why: str) -> None:
    decision = decide(preview, policy)
    assert isinstance(decision, Ask)
    assert why in decision.why
    assert preview.command is not None
    assert preview.unsaved or f"sandbox{preview.command.beyond}" in decision.why


def test_a_plain_command_runs_in_the_sandbox_without_a_question_at_balanced() -> None:
    assert decide(PLAIN, BALANCED) == Allow()
    assert isinstance(decide(PLAIN, replace(BALANCED, deny=(Rule.parse("run_command(make *)"),))), Deny)


def test_only_a_missing_trust_is_said_to_be_the_reason() -> None:
    untrusted = replace(BALANCED, trusted=False)
    assert [name for name, preview, policy, _ in ASKED if is_for_trust(decide(preview, policy))] == ["not trusted"]
    assert not is_for_trust(decide(runs("pytest $X"), untrusted))


def is_for_trust(decision: Allow | Ask | Deny) -> bool:
    return isinstance(decision, Ask) and decision.for_trust


@pytest.mark.parametrize(
    ("rule", "preview", "allowed"),
    [
        ("run_command(pytest *)", runs("pytest -q tests"), True),
        ("run_command(pytest *)", runs("pytest"), True),
        ("run_command", runs("make"), True),
        ("run_command(pytest *)", runs("pytest && make"), False),
        ("run_command(pytest *)", runs("pytest $X"), False),
        ("run_command(pytest *)", runs("pytest", confined=False), False),
        ("run_command(pytest *)", runs("pytest", network=True), False),
        ("run_command(pytest *)", runs("pytest", writable=(OUTSIDE,)), False),
        ("run_command(pytest x)", runs("pytest 'x y'"), False),
        ("run_command(rm *)", runs("rm -rf build"), False),
        ("read_changes", runs("make"), False),
    ],
)
def test_allow_rules_cover_what_is_certain_in_the_sandbox(rule: str, preview: Preview, allowed: bool) -> None:
    assert isinstance(decide(preview, replace(CAREFUL, allow=(Rule.parse(rule),))), Allow) is allowed


def test_a_deny_rule_for_reading_is_stronger_than_an_allow_rule_for_commands() -> None:
    policy = replace(CAREFUL, allow=(Rule.parse("run_command(cat *)"),), deny=(Rule.parse("read_file(secret/**)"),))
    assert is_asked_because(decide(runs("cat secret/key"), policy), "the rule run_command(cat *) allows it, but")
    assert decide(runs("cat secret/key"), replace(policy, grants=(grant(runs("cat secret/key")),))) == Allow()


def is_asked_because(decision: Allow | Ask | Deny, why: str) -> bool:
    return isinstance(decision, Ask) and why in decision.why


def test_a_grant_holds_also_if_a_rule_waits_for_your_trust() -> None:
    policy = replace(CAREFUL, allow=(Rule.parse("run_command(make *)"),), trusted=False)
    assert is_for_trust(decide(runs("make"), policy))
    assert decide(runs("make"), replace(policy, grants=(grant(runs("make")),))) == Allow()


def grant(preview: Preview) -> Grant:
    return grants_for(preview, WORKSPACE, IDS)[0]


@pytest.mark.parametrize(
    ("given", "called", "allowed"),
    [
        (runs("make"), runs("make"), True),
        (runs("make"), runs("make lint"), False),
        (runs("make"), runs("make", network=True), False),
        (runs("make"), runs("make", writable=(OUTSIDE,)), False),
        (runs("make"), runs("make", confined=False), False),
        (runs("make", confined=False), runs("make"), True),
        (runs("make", network=True), runs("make"), True),
        (runs("make", network=True), runs("make", network=True), True),
        (runs("make", writable=(OUTSIDE,)), runs("make", writable=(OUTSIDE / "x",)), False),
        (runs("make >log"), runs("make >log"), True),
    ],
)
def test_a_grant_gives_no_more_than_was_shown(given: Preview, called: Preview, allowed: bool) -> None:
    assert isinstance(decide(called, replace(CAREFUL, grants=(grant(given),))), Allow) is allowed


def test_a_grant_holds_in_the_sandbox_while_an_edit_is_not_reviewed() -> None:
    changed = {"edit": ROOT / "a.py"}
    for confined in (True, False):
        preview = runs("make", confined=confined)
        policy = replace(CAREFUL, grants=(grant(preview),), unreviewed=changed)
        assert isinstance(decide(preview, policy), Allow) is confined
