"""Which session is meant by an id, the start of one, or a part of a title; and that several are none."""

import pytest

from tark_lsp.cli.which_session import MOST_NAMED, chosen
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
    ],
)
def test_the_one_that_is_meant(wanted: str, found: str) -> None:
    assert chosen(TITLES, wanted) == found


@pytest.mark.parametrize("wanted", ["", "nonsense", "session-x", "\x1b[2J"])
def test_none(wanted: str) -> None:
    with pytest.raises(RequestError, match="there is no session") as refused:
        chosen(TITLES, wanted)
    assert "\x1b" not in refused.value.message


@pytest.mark.parametrize(("wanted", "named"), [("abc", "session-abc12 (Fix the page)"), ("page", "other-1 (Une")])
def test_several_are_named_and_none_is_taken(wanted: str, named: str) -> None:
    with pytest.raises(RequestError, match="could be several sessions") as refused:
        chosen(TITLES, wanted)
    assert named in refused.value.hint
    assert "\x1b" not in refused.value.hint


def test_many_are_not_all_named() -> None:
    with pytest.raises(RequestError) as refused:
        chosen({f"session-{number}": "T" for number in range(MOST_NAMED + 3)}, "session")
    assert refused.value.hint.endswith(", 3 more")
