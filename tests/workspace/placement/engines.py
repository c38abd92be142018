"""The engines that place the cases: ours the way the tools do it, and what peers commonly do.

A peer has only the current file. Each engine returns the whole text after the edit, or None if it refuses.
"""

import tempfile
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from tark_lsp.errors import FailureForModel
from tark_lsp.tools.edit_file import EditFileArguments, edit_of
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot
from tests.memory import MemoryBuffers, MemoryEditor
from tests.workspace.placement.case import Case

ALIKE = 0.8
"""The ratio from which editing agents commonly accept the most similar lines."""


LONGEST = 5_000
"""Only so many characters of a quote are searched: for a whole file the search would take minutes."""


def ours(case: Case) -> str | None:
    edit = attempt(case)
    return None if isinstance(edit, FailureForModel) else edit.after


def attempt(case: Case) -> ProposedEdit | FailureForModel:
    """The edit that `edit_file` proposes, or its failure."""
    root = Path(tempfile.gettempdir()).resolve()
    buffers = MemoryBuffers()
    path = buffers.open(root / "tark placement case", case.now).path
    ctx = ToolContext(Workspace([root], buffers), MemoryEditor(buffers))
    if case.seen is not None:
        ctx.seen[path] = Snapshot(path, case.seen)
    if case.draft is not None:
        ctx.drafts[path] = ProposedEdit.between(buffers.documents[path], case.draft)
    arguments = EditFileArguments(
        path=path.name, old_text=case.old, new_text=case.new, line_hint=case.hint, replace_all=case.replace_all
    )
    try:
        return edit_of(arguments, ctx)
    except FailureForModel as failure:
        return failure


def strict_unique(case: Case) -> str | None:
    text = case.now if case.draft is None else case.draft
    count = text.count(case.old) if case.old else 0
    if count == 0 or (count > 1 and not case.replace_all):
        return None
    return text.replace(case.old, case.new)


def first_match(case: Case) -> str | None:
    text = case.now if case.draft is None else case.draft
    return text.replace(case.old, case.new, -1 if case.replace_all else 1) if case.old and case.old in text else None


def most_alike(case: Case) -> str | None:
    """As `first_match`; if nothing matches, the most similar range of as many lines."""
    found = first_match(case)
    text = case.now if case.draft is None else case.draft
    if found is not None or not 0 < len(case.old) <= LONGEST:
        return found
    lines, size = text.splitlines(keepends=True), len(case.old.splitlines())
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(case.old)
    best, best_at = ALIKE, -1
    for at in range(len(lines) - size + 1):
        matcher.set_seq1("".join(lines[at : at + size]))
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best and matcher.ratio() >= best:
            best, best_at = matcher.ratio(), at
    if best_at < 0:
        return None
    new = case.new if case.new.endswith("\n") or not case.new else case.new + "\n"
    return "".join([*lines[:best_at], new, *lines[best_at + size :]])


ENGINES: Mapping[str, Callable[[Case], str | None]] = {
    "ours": ours,
    "strict-unique": strict_unique,
    "first-match": first_match,
    "most alike": most_alike,
}
