"""Edits in words: the title of a question about them, and what a model is told was made of them. Pure."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tark_lsp.agent.person import HunkOutcome
from tark_lsp.workspace.edits import Operation, ProposedEdit

Display = Callable[[Path], str]
"""A path as people and models read it."""

VERBS: Mapping[Operation, str] = {"": "edit", "move": "move", "remove": "delete"}
DONE: Mapping[Operation, str] = {"": "Applied to", "move": "Moved", "remove": "Deleted"}
OPEN: Mapping[Operation, str] = {"": "", "move": "moving ", "remove": "deleting "}


def name_of(edit: ProposedEdit, display: Display) -> str:
    return display(edit.path) if edit.target is None else f"{display(edit.path)} to {display(edit.target)}"


def title_of(edits: Sequence[ProposedEdit], display: Display) -> str:
    """`edit a.py`, `move a.py to b.py`, `edit 2 files, delete 1: a.py, b.py, c.py`."""
    operations = [edit.operation for edit in edits]
    if len(edits) == 1:
        return f"{VERBS[operations[0]]} {name_of(edits[0], display)}"
    counts = [f"{verb} {operations.count(each)}" for each, verb in VERBS.items() if each in operations]
    first = f"{counts[0]} file{'' if counts[0].endswith(' 1') else 's'}"
    ordered = [edit for each in VERBS for edit in edits if edit.operation == each]
    return f"{', '.join([first, *counts[1:]])}: {', '.join(name_of(edit, display) for edit in ordered)}"


def done(edits: Sequence[ProposedEdit], display: Display) -> str:
    """`Applied to a.py. Deleted b.py.`"""
    named = {each: [name_of(edit, display) for edit in edits if edit.operation == each] for each in DONE}
    return " ".join(f"{verb} {', '.join(named[each])}." for each, verb in DONE.items() if named[each])


def place_of(outcome: HunkOutcome, display: Display) -> str:
    """What was not done, and why: `a.py:30-31 (rejected: not these)`; the lines are those before the edit."""
    hunk = outcome.hunk
    lines = f":{hunk.start + 1}" + (f"-{hunk.end}" if len(hunk.old) > 1 else "")
    where = f"{OPEN[outcome.operation]}{display(outcome.path)}{'' if outcome.operation else lines}"
    return f"{where} ({outcome.state}{f': {outcome.reason}' if outcome.reason else ''})"
