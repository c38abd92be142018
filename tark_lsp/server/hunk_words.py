"""A hunk in words: the titles, list entries and texts by which people know it in any editor. Pure."""

from tark_lsp.server.review_hunks import ReviewHunk
from tark_lsp.server.visible import cut, visible

LONGEST_LINE = 60
"""Characters of the first changed line in a list of problems."""
TO_DECIDE = frozenset({"pending", "conflict", "stale"})
"""The states in which a person has something to say about a hunk yet."""


def counts(hunk: ReviewHunk) -> str:
    """`+1 -2`, and what a person must know before they accept it."""
    outside = ", outside the selection" if hunk.outside_selection else ""
    return f"+{len(hunk.new)} -{len(hunk.hunk.old)}{outside}"


def subject(hunk: ReviewHunk) -> str:
    """What comes after "Accept" and "Reject"."""
    return f"({counts(hunk)})"


def as_diff(hunk: ReviewHunk) -> str:
    lines = [*(f"-{line}" for line in hunk.hunk.old), *(f"+{line}" for line in hunk.new)]
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines)


def first_line(hunk: ReviewHunk) -> str:
    """The first line with something in it that the hunk writes, else that it takes away."""
    lines = (*hunk.new, *hunk.hunk.old)
    return visible(cut(next((line.strip() for line in lines if line.strip()), ""), LONGEST_LINE))


def in_list(hunk: ReviewHunk) -> str:
    """Its entry in a list of problems."""
    lines = f"({counts(hunk)})"
    match hunk.state:
        case "conflict":
            return f"conflict: you changed these lines, and your text is kept; Tark wanted {lines}: {first_line(hunk)}"
        case "stale":
            return f"not applied: {hunk.reason}; Tark wanted {lines}: {first_line(hunk)}"
        case _:
            verb = "changed" if hunk.applied else "proposes"
            return f"Tark {verb} {lines}: {first_line(hunk)}"
