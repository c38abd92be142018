"""Reasons are worded for the model; the user reads them as "you", in every editor."""

from dataclasses import replace

import pytest

from tark_lsp.review.hunk import CHANGED, EDITED, TOO_LATE, UNDONE
from tark_lsp.review.life import Life
from tark_lsp.review.wording import for_user, list_entry
from tests.review.test_life import in_life

REASONS = {
    CHANGED: "you changed these lines",
    UNDONE: "you undid it",
    EDITED: "you changed the text before accepting it",
    f"{TOO_LATE}: the person's text": "it was already accepted when you sent your own text for it: the person's text",
    f"a.py could not be changed ({CHANGED}), and all of these changes are made or none": (
        "a.py could not be changed (you changed these lines), and all of these changes are made or none"
    ),
    "another reason": "another reason",
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_addresses_the_user(reason: str) -> None:
    assert for_user(reason) == REASONS[reason]
    for life in (Life.FAILED, Life.CONFLICT):
        assert REASONS[reason] in list_entry(replace(in_life(life), reason=reason))
