"""Which session an id, the start of an id, or a part of a title names; several matches are an error."""

import pytest

from tark_lsp.cli.session_lookup import MAX_NAMED, find_session_id
from tark_lsp.errors import RequestError

TITLES = {
    "session-abc1": "Fix the prices",
    "session-abc12": "Fix the page",
    "session-def": "abc",
    "other-1": "Une \x1b[31mpage",
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("session-abc1", "session-abc1"),  # though it is the start of another
        ("abc12", "session-abc12"),
        ("session-d", "session-def"),
        ("other", "other-1"),
        ("PRICES", "session-abc1"),
        ("def", "session-def"),
        ("fix the p", "near"),
        ("Une \\u{1b}[31mpage", "other-1"),
        ("fix the pa…", "session-abc12"),
        ("fix", "exact"),
        (" Fix the page ", "session-abc12"),
    ],
)
def test_a_session_is_found(wanted: str, found: str) -> None:
    titles = {**TITLES, "near": "Fix the pump", "exact": "Fix"}
    assert find_session_id(titles, wanted, near={"near"}) == found


@pytest.mark.parametrize("wanted", ["", "nonsense", "session-x", "\x1b[2J"])
def test_no_session_matches(wanted: str) -> None:
    with pytest.raises(RequestError, match="there is no session") as refused:
        find_session_id(TITLES, wanted)
    assert "\x1b" not in refused.value.message


@pytest.mark.parametrize(("wanted", "named"), [("abc", "session-abc12 (Fix the page)"), ("page", "other-1 (Une")])
def test_several_matches_are_an_error_that_names_them(wanted: str, named: str) -> None:
    with pytest.raises(RequestError, match="matches several sessions") as refused:
        find_session_id(TITLES, wanted)
    assert named in refused.value.hint
    assert "\x1b" not in refused.value.hint


def test_only_some_of_many_matches_are_named() -> None:
    with pytest.raises(RequestError) as refused:
        find_session_id({f"session-{number}": "T" for number in range(MAX_NAMED + 3)}, "session")
    assert refused.value.hint.endswith(", 3 more")
