"""What counts as going round in circles, and what is worth doing again."""

import pytest

from tark_lsp.agent.loops import LoopDetector

LOOPS = {
    # each letter is a call with its result; the number of the first that is a loop, None: none is
    "three in a row": ("aaa", 3),
    "two in a row": ("aabbcca", None),
    "four of the last eight": ("abacada", 7),
    "three of the last eight": ("abcadefagh", None),
    "four, but over nine": ("abcadefagha", None),
    "a pair in turn": ("ababababab", 7),
    "after a change, again": ("aaXaaXaa", None),
    "the same change, with reading between": ("XaXbXcX", 7),
    "the same change three times": ("XXX", 3),
    "reading the same after each of many changes": ("aXaYaZaVaWa", None),
}
"""Capitals change something."""


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    script, expected = LOOPS[name]
    repetition = LoopDetector()
    found = [repetition.record_call("tool", item, "result", changed=item.isupper()) for item in script]
    assert next((number for number, loop in enumerate(found, 1) if loop), None) == expected


@pytest.mark.parametrize(
    "calls",
    [
        [("read", "1", "x"), ("read", "1", "y"), ("read", "1", "z")],
        [("read", "1", "x"), ("read", "2", "x"), ("read", "3", "x")],
        [("read", "1", "x"), ("list", "1", "x"), ("find", "1", "x")],
    ],
    ids=["another result", "other arguments", "another tool"],
)
def test_what_differs_is_no_loop(calls: list[tuple[str, str, str]]) -> None:
    repetition = LoopDetector()
    assert not any(repetition.record_call(*call) for call in calls)
    assert not any(repetition.is_looping(name, arguments) for name, arguments, _ in calls)


def test_a_loop_asks_first_until_it_is_forgiven() -> None:
    repetition = LoopDetector()
    for _ in range(3):
        repetition.record_call("read", "1", "x")
    assert repetition.is_looping("read", "1")
    assert not repetition.is_looping("read", "2")
    repetition.forgive_call("read", "1")
    assert not repetition.is_looping("read", "1")
    assert [repetition.record_call("read", "1", "x") for _ in range(3)] == [False, False, True]
