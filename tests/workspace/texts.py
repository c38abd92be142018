"""Texts for property tests: few different lines, so that they repeat, and all kinds of line endings."""

from hypothesis import strategies as st

ENDINGS = ("\n", "\r\n", "\r")
LINES = ("", "a", "b", "}", "  a", "\ta ", "x = 1", "\u2028", "\x0b\x85", "é", "e\u0301", "𝒳")


def texts(lines: tuple[str, ...] = LINES, endings: tuple[str, ...] = ENDINGS, size: int = 12) -> st.SearchStrategy[str]:
    """Up to `size` lines with different endings; the last one can have none."""
    line = st.builds(lambda body, ending: body + ending, st.sampled_from(lines), st.sampled_from(endings))
    return st.builds(lambda whole, last: "".join(whole) + last, st.lists(line, max_size=size), st.sampled_from(lines))
