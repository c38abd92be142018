"""Describes hunks and problems: the titles, list entries and texts that any editor shows to the user. Pure."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tark_lsp.review.hunk import CHANGED, EDITED, TOO_LATE, UNDONE, ReviewHunk
from tark_lsp.tools.problem import Problem
from tark_lsp.visible import cut, visible

LONGEST_LINE = 60
"""Characters of the first changed line in a list of problems."""

FOR_USER = {
    CHANGED: "you changed these lines",
    UNDONE: "you undid it",
    EDITED: "you changed the text before accepting it",
    TOO_LATE: "it was already accepted when you sent your own text for it",
}


def for_user(reason: str) -> str:
    """`ReviewHunk.reason`, which is worded for the model, reworded for the user."""
    for words, own in FOR_USER.items():
        reason = reason.replace(words, own)
    return reason


def problem_text(problem: Problem) -> str:
    """The message of a problem of a review, on one line."""
    return visible(" ".join(problem.message.split()))


def verbs(hunks: Iterable[ReviewHunk]) -> tuple[str, str]:
    """The names of the two decisions on these hunks: applied hunks are kept or undone, others accepted or rejected."""
    return ("Keep", "Undo") if all(hunk.applied for hunk in hunks) else ("Accept", "Reject")


def line_counts(hunk: ReviewHunk) -> str:
    """`+1 -2`, and what a user must know before accepting the hunk."""
    outside = ", outside the selection" if hunk.outside_selection else ""
    return f"+{len(hunk.new)} -{len(hunk.old)}{outside}"


def subject(hunk: ReviewHunk, together: Sequence[ReviewHunk] = ()) -> str:
    """The text after the verb: the lines, or what happens to the file, and what is decided together with the hunk."""
    files = len({other.path for other in together})
    more = f"{files} files together" if files > 1 else f"{len(together)} changes together" if len(together) > 1 else ""
    comma = f", {more}" if more else ""
    if hunk.operation == "remove":
        return f"deletion of {visible(hunk.path.name)} ({line_counts(hunk)}{comma})"
    if hunk.target is not None:
        return f"move to {_short_path(hunk.target)}{f' ({more})' if more else ''}"
    return f"({line_counts(hunk)}{comma})"


def conflict_reason(hunk: ReviewHunk) -> str:
    """Why the hunk is in conflict. Not only the user may have changed its lines."""
    if hunk.reason == CHANGED:
        return f"{for_user(hunk.reason)}, and your text is kept"
    return f"{visible(for_user(hunk.reason))}, and the text there is kept"


def as_diff(hunk: ReviewHunk) -> str:
    lines = [*(f"-{line}" for line in hunk.old), *(f"+{line}" for line in hunk.new)]
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines)


def first_line(hunk: ReviewHunk) -> str:
    """The first non-blank line that the hunk writes, else the first that it removes."""
    lines = (*hunk.new, *hunk.old)
    return cut(visible(next((line.strip() for line in lines if line.strip()), "")[: LONGEST_LINE + 1]), LONGEST_LINE)


def list_entry(hunk: ReviewHunk) -> str:
    """The hunk's entry in a list of problems."""
    lines = subject(hunk) if hunk.operation else f"({line_counts(hunk)}): {first_line(hunk)}"
    match hunk.state:
        case "conflict":
            return f"conflict: {conflict_reason(hunk)}; Tark wanted {lines}"
        case "stale":
            return f"not applied: {visible(for_user(hunk.reason))}; Tark wanted {lines}"
        case _:
            return f"Tark {'changed' if hunk.applied else 'proposes'} {lines}"


def _short_path(path: Path) -> str:
    """The name of the file and its folder. A title has no room for more."""
    return visible("/".join(path.parts[-2:]))
