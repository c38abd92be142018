"""Every class of edit against the table that is written out here: mode, level, trust, client, setting and path."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from tark_lsp.agent.approval import Allow, Ask, Deny, Policy, decide_call
from tark_lsp.agent.edit_review import EditReview, When
from tark_lsp.agent.kinds import KINDS, offered_tools
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Preview, Risk, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.private import PrivatePaths
from tark_lsp.workspace.snapshot import Snapshot
from tests.memory import MemoryBuffers

ROOT, HOME = Path("/project"), Path("/home/me")
WORKSPACE = Workspace([ROOT], MemoryBuffers(), (), PrivatePaths(HOME, ()))
SETTINGS: Sequence[When | None] = (None, *get_args(When))

# editReview: null plain, null in place, `ask`, `after`; in place: the client has the capability `review`
WHEN = {
    (ApprovalLevel.MANUAL, True): "  ask   ask   ask ask",
    (ApprovalLevel.CAREFUL, True): " ask   after ask after",
    (ApprovalLevel.BALANCED, True): "after after ask after",
    (ApprovalLevel.MANUAL, False): " ask   ask   ask ask",
    (ApprovalLevel.CAREFUL, False): "ask   ask   ask ask",
    (ApprovalLevel.BALANCED, False): "ask  ask   ask ask",
}


def when(level: ApprovalLevel, *, trusted: bool | None, in_place: bool, setting: When | None) -> str:
    """None counts as trusted."""
    plain, placed, ask, after = WHEN[level, trusted is not False].split()
    return {"ask": ask, "after": after}.get(setting or "", placed if in_place else plain)


def edit(path: Path, *, exists: bool = True, target: Path | None = None) -> ProposedEdit:
    base = Snapshot(path, "old\n" if exists else "", exists=exists)
    return ProposedEdit(path, base, (Hunk(0, ("old\n",) if exists else (), ("new\n",)),), target=target)


# what the edit is of: the tool, its edit, is it outside the selection, and what is decided (None: by the table above)
PATHS: dict[str, tuple[str, ProposedEdit, bool, str | None]] = {
    "inside": ("edit_file", edit(ROOT / "src/a.py"), False, None),
    "new": ("write_file", edit(ROOT / "src/a.py", exists=False), False, None),
    "moved": ("move_file", edit(ROOT / "src/a.py", target=ROOT / "b.py"), False, None),
    "outside the selection": ("edit_file", edit(ROOT / "src/a.py"), True, "ask once"),
    "deleted": ("delete_file", ProposedEdit.removal(Snapshot(ROOT / "src/a.py", "old\n")), False, "ask once"),
    "protected": ("edit_file", edit(ROOT / ".github/workflows/ci.yml"), False, "ask once"),
    "moved onto a protected path": ("move_file", edit(ROOT / "a", target=ROOT / ".git/hooks/a"), False, "ask once"),
    "outside the workspace": ("edit_file", edit(Path("/other/a.py")), False, "deny"),
    "credentials": ("edit_file", edit(HOME / ".ssh/config"), False, "deny"),
}


def told(name: str, policy: Policy) -> str:
    tool, edited, outside, _ = PATHS[name]
    preview = Preview("edit", ToolKind.EDIT, Risk.WRITE, edits=(edited,))
    match decide_call(tool, preview, policy, WORKSPACE, outside_selection=outside):
        case Allow():
            return "after"
        case Ask(_, once):
            return "ask once" if once else "ask"
        case Deny():
            return "deny"


@pytest.mark.parametrize("name", PATHS)
def test_every_class_of_edit(name: str) -> None:
    for level, trusted, in_place, setting in product(ApprovalLevel, (None, True, False), (False, True), SETTINGS):
        expected = PATHS[name][3] or when(level, trusted=trusted, in_place=in_place, setting=setting)
        policy = Policy(level, edit_review=EditReview(setting, trusted, in_place))
        assert told(name, policy) == expected, (level, trusted, in_place, setting)


@pytest.mark.parametrize("mode", Mode)
def test_edits_that_are_made_are_of_mode_build(mode: Mode) -> None:
    """In the other modes they are only shown, and wait to be accepted."""
    tools = load_tools()
    offered = offered_tools(tools, KINDS["agent"], mode, selection=True)
    edits = {name for name, tool in offered.items() if tool.facts.edits}
    makes = {name for name in edits if tools[name].risk is not Risk.READ_ONLY}
    assert edits
    assert bool(makes) == (mode is Mode.BUILD)


def test_why_an_untrusted_workspace_asks() -> None:
    policy = Policy(ApprovalLevel.BALANCED, edit_review=EditReview(None, False, True))
    preview = Preview("edit", ToolKind.EDIT, Risk.WRITE, edits=(PATHS["inside"][1],))
    assert decide_call("edit_file", preview, policy, WORKSPACE) == Ask(
        "it edits inside the workspace, which is not trusted"
    )


def test_the_level_of_the_moment_counts() -> None:
    """The user can change it while the turn runs."""
    policy = Policy(ApprovalLevel.CAREFUL, edit_review=EditReview(in_place=True))
    assert told("inside", policy) == "after"
    assert told("inside", replace(policy, level=ApprovalLevel.MANUAL)) == "ask"
