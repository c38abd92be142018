"""Thousands of edits as models send them, on real files: none is silently wrong, safe ones are applied, causes are
named."""

from collections import Counter

import pytest

from tark_lsp.errors import FailureForModel
from tests.workspace.placement.case import Case, Verdict
from tests.workspace.placement.engines import attempt, first_match, most_alike, ours, strict_unique
from tests.workspace.placement.suite import CASES_PER_MAKER, MAKERS, cases

pytestmark = pytest.mark.slow  # thousands of edits

LEAST_APPLIED = 0.99


def test_there_are_enough_cases() -> None:
    assert len(MAKERS) * CASES_PER_MAKER >= 2_000


@pytest.mark.property
@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_silently_wrong_and_what_is_safe_is_applied(name: str) -> None:
    made = [(case, case.judge(ours(case))) for case in cases(name)]
    wrong = [case for case, verdict in made if verdict is Verdict.WRONG]
    assert not wrong, wrong[0]
    safe = [verdict for case, verdict in made if case.safe]
    assert safe.count(Verdict.RIGHT) >= LEAST_APPLIED * len(safe)


# maker: codes a refusal may have, words its hint or message holds
CAUSES = {
    "ambiguous": ({"not_unique"}, "line_hint"),
    "hint_between": ({"not_unique"}, "line_hint"),
    "hint_far_off": ({"not_unique"}, "line_hint"),
    "deleted": ({"conflict", "not_found", "invalid_arguments"}, ""),
    "changed_inside": ({"conflict"}, "look at the current lines"),
    "elided_old": ({"not_found"}, '"..."'),
    "elided_new": ({"unsupported"}, "leaves lines out"),
    "line_numbers": ({"not_found", "unsupported"}, "numbers"),
    "one_line_to_a_dedent": ({"not_found"}, "indentation of the file"),
    "twin_near_hint": ({"not_unique"}, "line_hint"),
    "leading_newline": ({"not_found"}, "whole line"),
    "marker": ({"unsupported"}, "leaves lines out"),
    "fenced": ({"unsupported"}, "code fence"),
    "numbered_new": ({"unsupported"}, "numbers"),
    "reindented_old_only": ({"not_found"}, "indentation of the file"),
    "within_words": ({"not_found"}, "whole line"),
    "stale_read": ({"not_found"}, "read"),
}


LOCATED = ("not_found", "not_unique")
"""The codes of refusals that show the nearest lines, or the places."""


@pytest.mark.parametrize("name", CAUSES)
def test_a_refusal_names_its_cause(name: str) -> None:
    codes, words = CAUSES[name]
    failures = [failure for case in cases(name, 25) if isinstance(failure := attempt(case), FailureForModel)]
    assert failures
    for failure in failures:
        assert failure.code in codes, failure
        assert failure.hint
        assert words in f"{failure.message} {failure.hint}"
    located = [failure for failure in failures if failure.details.keys() & {"nearest", "places"}]
    assert all(failure in located for failure in failures if failure.code in LOCATED)


def test_the_suite_tells_engines_apart() -> None:
    """The suite would be useless if an engine that takes the first place were as good as one that refuses."""
    wrong = Counter[str]()
    for name in ("ambiguous", "stale_read", "deleted", "elided_new"):
        for case in cases(name, 15):
            for engine in (strict_unique, first_match, most_alike):
                wrong[engine.__name__] += case.judge(engine(case)) is Verdict.WRONG
    assert wrong["first_match"] > wrong["strict_unique"] > 0
    assert wrong["most_alike"] > wrong["first_match"]


def test_a_case_is_judged_by_its_text() -> None:
    case = Case("", "a\n", "a\n", "a", "b", "b\n", safe=True)
    assert [case.judge(text) for text in ("b\n", None, "a\n", "c\n")] == [
        Verdict.RIGHT,
        Verdict.REFUSED,
        Verdict.REFUSED,
        Verdict.WRONG,
    ]
