"""Describes edits as text: the title of a question about them, and their results for the model. Pure."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tark_lsp.agent.user_interface import HunkOutcome
from tark_lsp.workspace.edits import Operation, ProposedEdit

Display = Callable[[Path], str]
"""Formats a path for the user and the model."""

VERBS: Mapping[Operation, str] = {"": "edit", "move": "move", "remove": "delete"}
DONE: Mapping[Operation, str] = {"": "Applied to", "move": "Moved", "remove": "Deleted"}
OPEN: Mapping[Operation, str] = {"": "", "move": "moving ", "remove": "deleting "}


def edit_name(edit: ProposedEdit, display: Display) -> str:
    return display(edit.path) if edit.target is None else f"{display(edit.path)} to {display(edit.target)}"


def proposal_title(edits: Sequence[ProposedEdit], display: Display) -> str:
    """`edit a.py`, `move a.py to b.py`, `edit 2 files, delete 1: a.py, b.py, c.py`."""
    operations = [edit.operation for edit in edits]
    if len(edits) == 1:
        return f"{VERBS[operations[0]]} {edit_name(edits[0], display)}"
    counts = [f"{verb} {operations.count(operation)}" for operation, verb in VERBS.items() if operation in operations]
    first = f"{counts[0]} file{'' if counts[0].endswith(' 1') else 's'}"
    ordered = [edit for operation in VERBS for edit in edits if edit.operation == operation]
    return f"{', '.join([first, *counts[1:]])}: {', '.join(edit_name(edit, display) for edit in ordered)}"


def describe_applied(edits: Sequence[ProposedEdit], display: Display) -> str:
    """`Applied to a.py. Deleted b.py.`"""
    named = {
        operation: [edit_name(edit, display) for edit in edits if edit.operation == operation] for operation in DONE
    }
    return " ".join(f"{verb} {', '.join(named[operation])}." for operation, verb in DONE.items() if named[operation])


def describe_outcome(outcome: HunkOutcome, display: Display) -> str:
    """A change that was not applied, and why: `a.py:30-31 (rejected: not these)`, with the line numbers before the
    edit."""
    hunk = outcome.hunk
    lines = f":{hunk.start + 1}" + (f"-{hunk.end}" if len(hunk.old) > 1 else "")
    where = f"{OPEN[outcome.operation]}{display(outcome.path)}{'' if outcome.operation else lines}"
    return f"{where} ({outcome.state}{f': {outcome.reason}' if outcome.reason else ''})"
