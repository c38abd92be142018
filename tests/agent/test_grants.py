"""Grants of commands: what is offered, what several cover together, and which need a workspace that you trust."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.approval import Allow, Ask, Policy, decide_call
from tark_lsp.agent.grants import Grant, grants_for
from tark_lsp.agent.rules import Rule
from tark_lsp.commands.grant_patterns import Pattern
from tark_lsp.commands.shell_text import read_command
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.tool import Preview, Risk
from tests.agent.test_approval import IDS, ROOT, WORKSPACE, Places, edit
from tests.agent.test_command_decisions import CAREFUL, OUTSIDE, decide, runs

UNTRUSTED = replace(CAREFUL, trusted=False)


def offered(text: str, **facts: object) -> list[str]:
    return [grant.covers for grant in grants_for(runs(text, **facts), WORKSPACE, IDS)]


def chosen(text: str, covers: str, **facts: object) -> Grant:
    return next(grant for grant in grants_for(runs(text, **facts), WORKSPACE, IDS) if covers in grant.covers)


def always(*patterns: str, grant_id: str = "g") -> Grant:
    made = tuple(Pattern(tuple(one.removesuffix(" ...").split()), one.endswith(" ...")) for one in patterns)
    return Grant(grant_id, "always", " and ".join(patterns), ROOT, patterns=made)


def test_two_widths_are_offered_from_narrow_to_wide() -> None:
    assert offered("pytest -q") == [
        "`pytest -q` in this folder, this turn",
        "`pytest -q` in this folder, this session",
        "`pytest ...` with any arguments in this folder, this session",
        "`pytest -q` in this folder, always",
        "`pytest ...` with any arguments in this folder, always",
    ]
    ids = [grant.id for grant in grants_for(runs("pytest -q"), WORKSPACE, IDS)]
    assert ids == ["turn-id", "session-id", "any-session-id", "always-id", "any-always-id"]


def test_a_grant_of_a_subfolder_names_it() -> None:
    covers = [grant.covers for grant in grants_for(runs("pytest -q", cwd=ROOT / "sub"), WORKSPACE, IDS)]
    assert covers[0] == "`pytest -q` in sub, this turn"
    assert covers[-1] == f"`pytest ...` with any arguments in the workspace folder {ROOT.name}, always"


def test_a_compound_command_has_one_pattern_for_each_part() -> None:
    wide = offered("cd sub && npm run test -- -u | tail -5")[-1]
    assert (
        wide
        == "`cd sub` and `npm run test ...` with any arguments and `tail ...` with any arguments in this folder, always"
    )


@pytest.mark.parametrize("text", ["python", "bash -c 'make x'", "make >log", "env X=1 make"])
def test_what_has_no_certain_name_is_offered_exactly(text: str) -> None:
    assert len(offered(text)) == 3
    assert all(covers.startswith(f"`{text}` in this folder") for covers in offered(text))


@pytest.mark.parametrize("facts", [{"confined": False}, {"network": True}, {"writable": (OUTSIDE,)}])
def test_what_reaches_beyond_the_sandbox_is_offered_exactly_and_never_for_always(facts: dict[str, object]) -> None:
    assert [grant.scope for grant in grants_for(runs("make", **facts), WORKSPACE, IDS)] == ["turn", "session"]
    assert [grant.is_wide for grant in grants_for(runs("make", **facts), WORKSPACE, IDS)] == [False, False]


def test_another_folder_of_the_workspace_is_named() -> None:
    several = Places(Path("/one"), Path("/two"))
    inside = runs("pytest", cwd=Path("/two/sub"))
    assert grants_for(inside, several, IDS)[-1].covers.endswith("in the workspace folder two, always")
    assert grants_for(inside, several, IDS)[-1].folder == Path("/two")


# what was granted; what is called then; whether it is covered
COVERED: list[tuple[tuple[str, ...], Preview, bool]] = [
    (("pytest ...",), runs("pytest tests -x"), True),
    (("pytest ...",), runs("pytest", cwd=ROOT / "sub"), True),
    (("pytest ...",), runs("pytest", cwd=Path("/project2")), False),
    (("pytest ...",), runs("pytest && make"), False),
    (("pytest ...", "make ..."), runs("pytest && make"), True),
    (("pytest ...",), runs("pytest | tail -5", reading_parts=frozenset({1})), True),
    (("pytest ...",), runs("pytest | tail -5"), False),
    (("pytest ...",), runs("tail -5", reading_parts=frozenset({0})), False),
    (("pytest ...",), runs("pytest $X"), False),
    (("pytest ...",), runs("pytest >log"), False),
    (("pytest ...",), runs("pytest; rm -rf x"), False),
    (("rm ...",), runs("rm -rf x"), False),
    (("pytest ...",), runs("pytest", confined=False), False),
    (("pytest ...",), runs("pytest", network=True), False),
    (("pytest ...",), runs("pytest", writable=(OUTSIDE,)), False),
    (("pytest ...",), replace(runs("pytest"), outside=(OUTSIDE,)), False),
    (("pytest ...",), edit("src/a.py"), False),
]


@pytest.mark.parametrize(("granted", "preview", "covered"), COVERED)
def test_what_patterns_cover(granted: tuple[str, ...], preview: Preview, covered: bool) -> None:
    separate = tuple(always(one, grant_id=one) for one in granted)
    for grants in (separate, (always(*granted),)):
        assert isinstance(decide(preview, replace(CAREFUL, grants=grants)), Allow) is covered


def test_an_exact_grant_for_always_covers_no_edit_and_no_other_command() -> None:
    grant = chosen("make >log", "always")
    policy = replace(CAREFUL, grants=(grant,))
    assert isinstance(decide(runs("make >log"), policy), Allow)
    for other in (runs("make"), runs("make >log", cwd=ROOT / "sub"), runs("make >log", confined=False), edit("a.py")):
        assert isinstance(decide(other, policy), Ask)


def for_trust(decision: object) -> bool:
    return isinstance(decision, Ask) and decision.for_trust


def test_what_runs_unasked_needs_a_workspace_that_you_trust() -> None:
    rule = replace(UNTRUSTED, allow=(Rule.parse("run_command(pytest *)"),))
    git = runs("git status", reads_only=True, needs_trust=True)
    for preview, policy in ((runs("pytest"), rule), (git, UNTRUSTED)):
        assert for_trust(decide(preview, policy))
        assert isinstance(decide(preview, replace(policy, trusted=True)), Allow)
    assert isinstance(decide(runs("ls", reads_only=True), UNTRUSTED), Allow)
    assert not for_trust(decide(runs("pytest"), UNTRUSTED))


@pytest.mark.parametrize("covers", ["this turn", "this session", "`pytest ...` with any arguments", "always"])
def test_a_grant_needs_no_trust(covers: str) -> None:
    policy = replace(UNTRUSTED, grants=(chosen("pytest -q", covers),))
    assert isinstance(decide(runs("pytest -q"), policy), Allow)


def test_with_the_network_a_grant_is_suspended_while_an_edit_is_not_reviewed() -> None:
    grant = chosen("npm ci", "this session", network=True)
    policy = replace(CAREFUL, grants=(grant,))
    assert isinstance(decide(runs("npm ci", network=True), policy), Allow)
    changed = replace(policy, unreviewed={"edit": ROOT / "package.json"})
    decision = decide(runs("npm ci", network=True), changed)
    assert isinstance(decision, Ask)
    assert "package.json was changed since" in decision.why
    assert isinstance(decide(runs("npm ci"), changed), Allow)  # without the network nothing leaves the sandbox


WORDS = st.sampled_from(["pytest", "-q", "make", "rm", "-rf", "x", "&&", ";", "|", ">log", "$X", "git", "log", "sudo"])


@given(
    st.lists(WORDS, min_size=1, max_size=6).map(" ".join),
    st.sampled_from([{}, {"confined": False}, {"network": True}, {"writable": (OUTSIDE,)}]),
    st.sampled_from(ApprovalLevel),
)
def test_a_pattern_never_covers_what_is_uncertain_dangerous_or_needs_more(
    text: str, facts: dict[str, object], level: ApprovalLevel
) -> None:
    preview = runs(text, **facts)
    policy = Policy(
        level, trusted=True, grants=(always("pytest ...", "make ...", "git log ...", "rm ...", "sudo ..."),)
    )
    if level is ApprovalLevel.BALANCED:
        return
    if not read_command(text).is_certain or facts or preview.risk is Risk.DANGEROUS:
        assert isinstance(decide_call("run_command", preview, policy, WORKSPACE), Ask)
