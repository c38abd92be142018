"""A hunk in words: the titles, list entries and texts by which people know it in any editor. Pure."""

from collections.abc import Sequence
from pathlib import Path

from tark_lsp.server.asking.visible import cut, visible
from tark_lsp.server.review.hunks import CHANGED, ReviewHunk

LONGEST_LINE = 60
"""Characters of the first changed line in a list of problems."""
TO_DECIDE = frozenset({"pending", "conflict", "stale"})
"""The states in which a person has something to say about a hunk yet."""


def counts(hunk: ReviewHunk) -> str:
    """`+1 -2`, and what a person must know before they accept it."""
    outside = ", outside the selection" if hunk.outside_selection else ""
    return f"+{len(hunk.new)} -{len(hunk.hunk.old)}{outside}"


def subject(hunk: ReviewHunk, together: Sequence[ReviewHunk] = ()) -> str:
    """What comes after "Accept" and "Reject": its lines, or what becomes of the file, and what is decided with it."""
    files = len({each.path for each in together})
    more = f"{files} files together" if files > 1 else f"{len(together)} changes together" if len(together) > 1 else ""
    comma = f", {more}" if more else ""
    if hunk.operation == "remove":
        return f"deletion of {visible(hunk.path.name)} ({counts(hunk)}{comma})"
    if hunk.target is not None:
        return f"move to {_near(hunk.target)}{f' ({more})' if more else ''}"
    return f"({counts(hunk)}{comma})"


def in_conflict(hunk: ReviewHunk) -> str:
    """Why, to the person: it need not have been them who changed its lines."""
    if hunk.reason == CHANGED:
        return "you changed these lines, and your text is kept"
    return f"{visible(hunk.reason)}, and what stands there is kept"


def as_diff(hunk: ReviewHunk) -> str:
    lines = [*(f"-{line}" for line in hunk.hunk.old), *(f"+{line}" for line in hunk.new)]
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines)


def first_line(hunk: ReviewHunk) -> str:
    """The first line with something in it that the hunk writes, else that it takes away."""
    lines = (*hunk.new, *hunk.hunk.old)
    return visible(cut(next((line.strip() for line in lines if line.strip()), ""), LONGEST_LINE))


def in_list(hunk: ReviewHunk) -> str:
    """Its entry in a list of problems."""
    lines = subject(hunk) if hunk.operation else f"({counts(hunk)}): {first_line(hunk)}"
    match hunk.state:
        case "conflict":
            return f"conflict: {in_conflict(hunk)}; Tark wanted {lines}"
        case "stale":
            return f"not applied: {visible(hunk.reason)}; Tark wanted {lines}"
        case _:
            return f"Tark {'changed' if hunk.applied else 'proposes'} {lines}"


def _near(path: Path) -> str:
    """Its name and its folder's, which is as much as a title has room for."""
    return visible("/".join(path.parts[-2:]))
