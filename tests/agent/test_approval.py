"""decide() as the whole table of safety.md: levels, what comes before them in its order, and what grants cover."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.approval import (
    Allow,
    Ask,
    Deny,
    Policy,
    decide_call,
    is_read_asked,
    is_read_denied,
)
from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.effects import Effect, effect_of
from tark_lsp.agent.grants import Grant, grants_for
from tark_lsp.agent.rules import Rule
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.command import Command
from tark_lsp.tools.tool import Location, Preview, Risk, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot
from tests.agent.bench import Bench
from tests.memory import MemoryBuffers

ROOT = Path("/project")


class Places(Workspace):
    """Folders that need not exist: nothing here opens a file."""

    def __init__(self, *folders: Path) -> None:
        super().__init__(folders, MemoryBuffers())


WORKSPACE = Places(ROOT)


def edit(*names: str, risk: Risk = Risk.WRITE) -> Preview:
    edits = tuple(ProposedEdit.between(Snapshot(ROOT / name, "", exists=False), "new\n") for name in names)
    return Preview("edit", ToolKind.EDIT, risk, edits=edits)


def command(text: str, risk: Risk = Risk.RISKY, cwd: Path = ROOT) -> Preview:
    return Preview("run", ToolKind.EXECUTE, risk, command=Command(("/bin/bash", "-c", text), text, cwd))


def move(name: str, target: str) -> Preview:
    base = Snapshot(ROOT / name, "old\n")
    moved = ProposedEdit(base.path, base, (), target=ROOT / target)
    return Preview("move", ToolKind.MOVE, Risk.WRITE, edits=(moved,))


def removal(*names: str, risk: Risk = Risk.DANGEROUS) -> Preview:
    edits = tuple(ProposedEdit.removal(Snapshot(ROOT / name, "old\n")) for name in names)
    return Preview("delete", ToolKind.DELETE, risk, edits=edits)


READ = Preview("read", ToolKind.READ, Risk.READ_ONLY, (Location(ROOT / "src/a.py"),))
READ_OUTSIDE = Preview("read", ToolKind.READ, Risk.READ_ONLY, outside=(Path("/etc/passwd"),))
EDIT = edit("src/a.py")
EDIT_OUTSIDE = edit("../other/a.py")
PROTECTED = edit("src/a.py", ".github/workflows/ci.yml")
COMMAND = command("pytest -q")
DANGEROUS = command("rm -rf x", Risk.DANGEROUS)
FETCH = Preview("fetch", ToolKind.FETCH, Risk.RISKY)
DELETE = removal("src/a.py")
UNKNOWN = Preview("?", ToolKind.OTHER, Risk.WRITE)
NOTE = Preview("save_memory x", ToolKind.OTHER, Risk.WRITE, note="x")

CALLS: dict[str, tuple[str, Preview]] = {
    "read inside": ("read_file", READ),
    "read outside": ("read_file", READ_OUTSIDE),
    "edit inside": ("edit_file", EDIT),
    "edit outside": ("edit_file", EDIT_OUTSIDE),
    "protected path": ("edit_file", PROTECTED),
    "command": ("run_command", COMMAND),
    "network": ("fetch", FETCH),
    "dangerous": ("run_command", DANGEROUS),
    "delete": ("delete_file", DELETE),
    "delete said to be harmless": ("apply_patch", removal("src/a.py", risk=Risk.WRITE)),
    "move": ("move_file", move("src/a.py", "src/b.py")),
    "move out of the workspace": ("move_file", move("src/a.py", "../b.py")),
    "move into the workspace": ("move_file", move("../a.py", "src/b.py")),
    "move onto a protected path": ("move_file", move("src/a.py", ".git/hooks/pre-commit")),
    "move of a protected path": ("move_file", move("AGENTS.md", "src/b.md")),
    "unknown": ("write_something", UNKNOWN),
    "note": ("save_memory", NOTE),
    "note with a command": ("save_memory", replace(COMMAND, note="x")),
    "note of a risky tool": ("fetch", replace(FETCH, note="x")),
    "proposal": ("propose_edit", edit("src/a.py", risk=Risk.READ_ONLY)),
}

# safety.md, "What is asked", a column a line: manual, careful, balanced
TABLE: dict[str, tuple[str, str, str]] = {
    "read inside": ("allow", "allow", "allow"),
    "read outside": ("ask", "ask", "ask"),
    "edit inside": ("ask", "ask", "allow"),
    "edit outside": ("deny", "deny", "deny"),
    "protected path": ("ask once", "ask once", "ask once"),
    "command": ("ask", "ask", "ask"),
    "network": ("ask", "ask", "ask"),
    "dangerous": ("ask once", "ask once", "ask once"),
    "delete": ("ask once", "ask once", "ask once"),
    "delete said to be harmless": ("ask once", "ask once", "ask once"),
    "move": ("ask", "ask", "allow"),
    "move out of the workspace": ("deny", "deny", "deny"),
    "move into the workspace": ("deny", "deny", "deny"),
    "move onto a protected path": ("ask once", "ask once", "ask once"),
    "move of a protected path": ("ask once", "ask once", "ask once"),
    "unknown": ("ask", "ask", "ask"),
    "note": ("ask", "ask", "ask"),
    "note with a command": ("ask", "ask", "ask"),
    "note of a risky tool": ("ask", "ask", "ask"),
    "proposal": ("allow", "allow", "allow"),
}


def told(name: str, policy: Policy, *, outside_selection: bool = False) -> str:
    tool, preview = CALLS[name]
    match decide_call(tool, preview, policy, WORKSPACE, outside_selection=outside_selection):
        case Allow():
            return "allow"
        case Ask(why, once):
            assert why
            return "ask once" if once else "ask"
        case Deny(why):
            assert why
            return "deny"


@pytest.mark.parametrize(("name", "level"), list(product(CALLS, ApprovalLevel)))
def test_the_table(name: str, level: ApprovalLevel) -> None:
    assert told(name, Policy(level)) == TABLE[name][list(ApprovalLevel).index(level)]


EVERYTHING = (Rule("*"),)
EDIT_GRANT = Grant("g", "session", "edits below src", folder=ROOT / "src")
COMMAND_GRANT = Grant("g", "session", "pytest", command=Command(("/bin/bash", "-c", "pytest -q"), "pytest -q", ROOT))
DANGER_GRANT = Grant("g", "session", "rm", command=Command(("/bin/bash", "-c", "rm -rf x"), "rm -rf x", ROOT))
ALLOW_ALL = tuple(Rule(tool) for tool in {tool for tool, _ in CALLS.values()})
GRANTS = (EDIT_GRANT, COMMAND_GRANT, DANGER_GRANT)

# what each rule or grant makes of each call, whatever the level
ALLOWED_BY_RULE = {
    "read inside": "allow",
    "read outside": "allow",
    "edit inside": "allow",
    "edit outside": "deny",
    "protected path": "ask once",
    "command": "ask",
    "network": "allow",
    "dangerous": "ask once",
    "delete": "ask once",
    "delete said to be harmless": "ask once",
    "move": "allow",
    "move out of the workspace": "deny",
    "move into the workspace": "deny",
    "move onto a protected path": "ask once",
    "move of a protected path": "ask once",
    "unknown": "allow",
    "note": "allow",
    "note with a command": "ask",
    "note of a risky tool": "allow",
    "proposal": "allow",
}
GRANTED = {"edit inside": "allow", "move": "allow", "command": "allow", "note with a command": "allow"}


@pytest.mark.parametrize(("name", "level"), list(product(CALLS, ApprovalLevel)))
def test_the_order(name: str, level: ApprovalLevel) -> None:
    """deny > edit outside > protected > ask > allow or grant > table; outside the selection and danger: once."""
    by_level = TABLE[name][list(ApprovalLevel).index(level)]
    assert told(name, Policy(level, allow=ALLOW_ALL)) == ALLOWED_BY_RULE[name]
    assert told(name, Policy(level, grants=GRANTS)) == GRANTED.get(name, by_level)
    asked = Policy(level, allow=ALLOW_ALL, ask=EVERYTHING, grants=GRANTS)
    assert told(name, asked) == ("deny" if by_level == "deny" else "ask once")
    denied = Policy(level, allow=ALLOW_ALL, ask=EVERYTHING, deny=EVERYTHING, grants=GRANTS)
    assert told(name, denied) == "deny"
    selected = told(name, Policy(level, allow=ALLOW_ALL, grants=GRANTS), outside_selection=True)
    assert selected == ("deny" if by_level == "deny" else "ask once")


@pytest.mark.parametrize(("edit_review", "level"), list(product((None, "ask", "after"), ApprovalLevel)))
def test_a_note_is_asked_for_however_edits_are_reviewed(edit_review: Any, level: ApprovalLevel) -> None:
    """It speaks to every later session, and has no hunks to review afterwards."""
    review = EditReview(edit_review)
    assert told("note", Policy(level, edit_review=review)) == "ask"
    assert told("note", Policy(level, allow=(Rule("*"), Rule("edit_file")), edit_review=review)) == "ask"
    assert told("note", Policy(level, allow=(Rule("save_memory"),), edit_review=review)) == "allow"


def test_commands_can_be_off_altogether() -> None:
    policy = Policy(ApprovalLevel.BALANCED, allow=ALLOW_ALL, grants=GRANTS, no_commands="not trusted")
    assert decide_call("run_command", COMMAND, policy, WORKSPACE) == Deny("not trusted")
    assert told("dangerous", policy) == "deny"
    assert told("edit inside", policy) == "allow"


def test_edits_in_memory_are_allowed_and_what_leads_out_is_not() -> None:
    """Nothing is lost by them. A patch that changes a protected path is one that you have to allow."""
    for level in ApprovalLevel:
        policy = Policy(level, in_memory=True, no_commands="not here")
        changed = {"edit inside", "delete", "delete said to be harmless", "move", "proposal"}
        for name in CALLS:
            by_level = TABLE[name][list(ApprovalLevel).index(level)]
            denied = by_level == "deny" or CALLS[name][1].command is not None
            assert told(name, policy) == ("deny" if denied else "allow" if name in changed else by_level), name
        assert told("edit inside", policy, outside_selection=True) == "ask once"
        assert told("delete", replace(policy, ask=EVERYTHING)) == "ask once"


RULES = st.builds(
    Rule,
    st.sampled_from(["*", "read_file", "edit_file", "run_command", "delete_file", "move_file", "write_*"]),
    st.sampled_from([None, "**", "src/**", "*", "rm *", "pytest *", ".github/**", "/etc/**"]),
)
POLICIES = st.builds(
    Policy,
    st.sampled_from(ApprovalLevel),
    allow=st.lists(RULES, max_size=3).map(tuple),
    ask=st.lists(RULES, max_size=3).map(tuple),
    deny=st.lists(RULES, max_size=3).map(tuple),
    grants=st.lists(st.sampled_from(GRANTS), max_size=2).map(tuple),
    edit_review=st.builds(
        EditReview,
        st.sampled_from([None, "ask", "after"]),
        st.sampled_from([None, True, False]),
        st.booleans(),
    ),
)
STRICTNESS = ["allow", "ask", "ask once", "deny"]


@given(st.sampled_from(sorted(CALLS)), POLICIES, RULES)
def test_denying_or_asking_more_never_loosens(name: str, policy: Policy, rule: Rule) -> None:
    before = STRICTNESS.index(told(name, policy))
    denying = Policy(policy.level, policy.allow, policy.ask, (*policy.deny, rule), policy.grants, policy.edit_review)
    asking = Policy(policy.level, policy.allow, (*policy.ask, rule), policy.deny, policy.grants, policy.edit_review)
    assert STRICTNESS.index(told(name, denying)) >= before
    assert STRICTNESS.index(told(name, asking)) >= before


@given(POLICIES)
def test_what_no_policy_allows(policy: Policy) -> None:
    for name, (_, _, balanced) in TABLE.items():
        if balanced == "ask once":
            assert told(name, policy) in ("ask once", "deny")
        if balanced == "deny":
            assert told(name, policy) == "deny"
    if COMMAND_GRANT not in policy.grants:
        assert told("command", policy) != "allow"


@pytest.mark.parametrize(
    ("preview", "effect"),
    [
        (READ, Effect.READ_INSIDE),
        (READ_OUTSIDE, Effect.READ_OUTSIDE),
        (EDIT, Effect.EDIT),
        (COMMAND, Effect.COMMAND),
        (command("ls", Risk.READ_ONLY), Effect.COMMAND),
        (DANGEROUS, Effect.DANGEROUS),
        (FETCH, Effect.NETWORK),
        (DELETE, Effect.DANGEROUS),
        (UNKNOWN, Effect.COMMAND),
        (NOTE, Effect.NOTE),
    ],
)
def test_effect_of(preview: Preview, effect: Effect) -> None:
    assert effect_of(preview) is effect


IDS = "id"


def test_a_grant_for_a_command_is_exact() -> None:
    turn, session = grants_for(COMMAND, WORKSPACE, IDS)
    assert (turn.id, turn.scope, session.id, session.scope) == ("turn-id", "turn", "session-id", "session")
    assert turn.covers == "`pytest -q` in this folder, this turn"
    assert session.covers == "`pytest -q` in this folder, this session"
    policy = Policy(ApprovalLevel.MANUAL, grants=(session,))
    assert decide_call("run_command", COMMAND, policy, WORKSPACE) == Allow()
    for other in (command("pytest -q "), command("pytest"), command("pytest -q", cwd=ROOT / "sub"), DANGEROUS, EDIT):
        assert isinstance(decide_call("run_command", other, policy, WORKSPACE), Ask)


# names of the files edited; what the grant says; what it covers, and what it does not
FOLDERS = {
    "one file": (("src/a.py",), "edits below src", ["src/b.py", "src/deep/c.py"], ["a.py", "srcs/a.py", "docs/a"]),
    "at the top": (("a.py",), "edits below the workspace folder project", ["b.py", "src/c.py"], []),
    "a common folder": (("src/x/a", "src/y/b"), "edits below src", ["src/c", "src/x/d"], ["docs/a"]),
    "names that begin alike": (("src/a", "srcs/b"), "edits below the workspace folder project", ["c"], []),
    "deep": (("a/b/c/d",), "edits below a/b/c", ["a/b/c/e"], ["a/b/e", "a/b/c.py"]),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_grant_for_edits_covers_the_folder_it_names(name: str) -> None:
    names, covers, covered, others = FOLDERS[name]
    turn, _ = grants_for(edit(*names), WORKSPACE, IDS)
    assert turn.covers == f"{covers}, this turn"
    policy = Policy(ApprovalLevel.CAREFUL, grants=(turn,))
    assert all(decide_call("write_file", edit(item), policy, WORKSPACE) == Allow() for item in [*names, *covered])
    assert all(isinstance(decide_call("write_file", edit(other), policy, WORKSPACE), Ask) for other in others)
    assert not others or isinstance(decide_call("write_file", edit(names[0], others[0]), policy, WORKSPACE), Ask)
    assert decide_call("write_file", edit(f"{names[0]}/../.git/config"), policy, WORKSPACE) != Allow()


def test_a_grant_holds_in_its_own_workspace_folder_only() -> None:
    several = Places(Path("/one"), Path("/two"))

    def at(*paths: str) -> Preview:
        edits = tuple(ProposedEdit.between(Snapshot(Path(path), "", exists=False), "new\n") for path in paths)
        return Preview("edit", ToolKind.EDIT, Risk.WRITE, edits=edits)

    turn, _ = grants_for(at("/one/a.py"), several, IDS)
    assert turn.covers == "edits below the workspace folder one, this turn"
    policy = Policy(ApprovalLevel.CAREFUL, grants=(turn,))
    assert decide_call("edit_file", at("/one/sub/b.py"), policy, several) == Allow()
    assert isinstance(decide_call("edit_file", at("/two/a.py"), policy, several), Ask)
    assert grants_for(at("/one/a.py", "/two/a.py"), several, IDS) == ()


def test_a_grant_for_edits_covers_both_ends_of_a_move_and_never_a_removal() -> None:
    turn, _ = grants_for(move("src/a.py", "src/sub/b.py"), WORKSPACE, IDS)
    assert turn.covers == "edits below src, this turn"
    policy = Policy(ApprovalLevel.CAREFUL, grants=(turn,))
    assert decide_call("move_file", move("src/x.py", "src/y.py"), policy, WORKSPACE) == Allow()
    for other in (move("src/x.py", "docs/x.py"), move("docs/x.py", "src/x.py"), removal("src/x.py")):
        assert isinstance(decide_call("move_file", other, policy, WORKSPACE), Ask)
    (above, _) = grants_for(move("src/a.py", "docs/a.py"), WORKSPACE, IDS)
    assert above.folder == ROOT
    assert grants_for(removal("src/x.py"), WORKSPACE, IDS) == ()


def test_what_only_reads_has_no_grants() -> None:
    assert grants_for(READ_OUTSIDE, WORKSPACE, IDS) == ()


def test_a_command_that_reads_outside_is_asked_about_each_time() -> None:
    elsewhere = replace(COMMAND, outside=(Path("/elsewhere/.git"),))
    assert grants_for(elsewhere, WORKSPACE, IDS) == ()
    policy = Policy(ApprovalLevel.CAREFUL, grants=grants_for(COMMAND, WORKSPACE, IDS))
    assert isinstance(decide_call("read_changes", COMMAND, policy, WORKSPACE), Allow)
    assert isinstance(decide_call("read_changes", elsewhere, policy, WORKSPACE), Ask)


def test_a_turn_tells_its_tools_what_the_rules_say(bench: Bench) -> None:
    bench.rules = Policy(
        ApprovalLevel.CAREFUL, deny=(Rule.parse("read_file(denied)"),), ask=(Rule.parse("read_file(asked)"),)
    )
    context = bench.make().context
    denied, asked = bench.root / "denied", bench.root / "asked"
    assert (context.is_read_denied(denied), context.is_read_asked(denied)) == (True, False)
    assert (context.is_read_denied(asked), context.is_read_asked(asked)) == (False, True)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("read_file(secrets/**)", True),
        ("search_text(secrets/**)", True),
        ("read_file", True),
        ("*(secrets/**)", True),
        ("read_file(src/**)", False),
        ("edit_file(secrets/**)", False),
        ("run_command(secrets/**)", False),
    ],
)
def test_a_rule_for_reading_closes_the_file_or_has_it_asked_about(rule: str, expected: bool) -> None:
    policy = Policy(ApprovalLevel.BALANCED, deny=(Rule.parse(rule),))
    assert is_read_denied(ROOT / "secrets" / "key", policy, WORKSPACE) == expected
    asking = Policy(ApprovalLevel.BALANCED, ask=policy.deny)
    assert not is_read_denied(ROOT / "secrets" / "key", asking, WORKSPACE)
    assert is_read_asked(ROOT / "secrets" / "key", asking, WORKSPACE) == expected
    assert not is_read_asked(ROOT / "secrets" / "key", policy, WORKSPACE)
