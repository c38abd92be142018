"""What is learned of a model, how full its window is, and where a history is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.budget import (
    LAST_MESSAGES,
    LEAST_TO_LEARN,
    RATIO_BOUNDS,
    RESERVE,
    Estimates,
    PromptLoad,
    compaction_start,
    shortening_end,
)
from tark_lsp.messages import Message, Role, Text

MODEL = "openai/gpt-5"


def test_a_ratio_comes_near_what_is_reported() -> None:
    estimates = Estimates()
    for _ in range(20):
        estimates.learn_ratio(MODEL, 10_000, 13_000)
    assert estimates.ratio(MODEL) == pytest.approx(1.3, abs=0.01)
    assert estimates.model_tokens(MODEL, 100) == 130
    assert estimates.ratio("openai/gpt-4o") == 1.0


@pytest.mark.parametrize(
    ("name", "ratio"), [("anthropic/claude-x", 1.2), ("gemini/gemini-3", 1.05), ("any/thing", 1.1)]
)
def test_before_anything_is_reported(name: str, ratio: float) -> None:
    assert Estimates().ratio(name) == ratio


@given(st.lists(st.tuples(st.floats(0, 1e7), st.integers(0, 10**8)), max_size=30))
def test_no_report_makes_a_ratio_absurd(reports: list[tuple[float, int]]) -> None:
    estimates = Estimates()
    for counted, reported in reports:
        estimates.learn_ratio(MODEL, counted, reported)
    assert RATIO_BOUNDS[0] <= estimates.ratio(MODEL) <= RATIO_BOUNDS[1]


@pytest.mark.parametrize(("counted", "reported"), [(LEAST_TO_LEARN - 1, 5_000), (10_000, 0)])
def test_what_says_nothing_teaches_nothing(counted: float, reported: int) -> None:
    estimates = Estimates()
    estimates.learn_ratio(MODEL, counted, reported)
    assert estimates.ratio(MODEL) == 1.0


def test_the_smallest_request_that_was_too_long_bounds_the_window_until_a_longer_one_fits() -> None:
    estimates = Estimates()
    assert estimates.known_window(MODEL, None) is None
    for tokens in (50_000, 40_000, 60_000, 500):
        estimates.record_overflow(MODEL, tokens)
    assert estimates.known_window(MODEL, None) == estimates.known_window(MODEL, 100_000) == 40_000
    assert estimates.known_window(MODEL, 30_000) == 30_000
    estimates.learn_ratio(MODEL, 45_000, 45_000)
    assert estimates.known_window(MODEL, 100_000) == 100_000


# window, fixed, history, the longest answer -> share, room for the answer
LOADS: list[tuple[int | None, int, int, int | None, float, int | None]] = [
    (None, 5_000, 900_000, 64_000, 0.0, None),
    (100_000, 5_000, 45_000, None, (50_000 + RESERVE) / 100_000, None),
    (200_000, 0, 100_000, 64_000, 0.625, None),
    (200_000, 0, 140_000, 64_000, 0.825, 46_000),
    (200_000, 0, 199_000, 64_000, 1.12, 25_000),
    (8_000, 0, 1_000, None, 0.25, None),
]


@pytest.mark.parametrize(("window", "fixed", "history", "longest", "share", "room"), LOADS)
def test_loads(
    window: int | None, fixed: int, history: int, longest: int | None, share: float, room: int | None
) -> None:
    load = PromptLoad(window, fixed, history, longest)
    assert load.share == pytest.approx(share)
    assert load.room_for_answer == room


@pytest.mark.parametrize(
    ("sizes", "short", "done", "least", "end"),
    [
        ([100.0] * 10, [10.0] * 10, 0, 0, 4),
        ([100.0] * 10, [10.0] * 10, 0, 360, 4),
        ([100.0] * 10, [10.0] * 10, 0, 361, 0),
        ([100.0] * 10, [10.0] * 10, 3, 90, 4),
        ([100.0] * 10, [10.0] * 10, 3, 91, 3),
        ([100.0] * 10, [10.0] * 10, 4, 0, 4),
        ([100.0] * 10, [100.0] * 10, 0, 0, 0),
        ([100.0] * LAST_MESSAGES, [10.0] * LAST_MESSAGES, 0, 0, 0),
        ([], [], 0, 0, 0),
    ],
)
def test_what_is_shortened(sizes: list[float], short: list[float], done: int, least: float, end: int) -> None:
    assert shortening_end(sizes, short, done, least) == end


ROLES: dict[str, Role] = {"u": "user", "a": "assistant", "t": "tool"}


@pytest.mark.parametrize(
    ("roles", "most", "start"),
    [
        ("uaua", 14, 3),
        ("uaua", 15, 2),
        ("uaua", 0, 3),
        ("uatat", 20, 3),
        ("uatat", 0, 3),
        ("uatat", 34, 3),
        ("uatat", 35, 1),
        ("ua", 100, 0),
        ("u", 0, 0),
        ("", 10, 0),
    ],
)
def test_where_the_last_messages_begin(roles: str, most: float, start: int) -> None:
    """Each message has size 10, but the last 5."""
    messages = [Message(ROLES[role], (Text("x"),)) for role in roles]
    sizes = [10.0] * (len(messages) - 1) + [5.0] * bool(messages)
    assert compaction_start(messages, sizes, most) == start


@given(st.text(alphabet="uat", max_size=30), st.floats(0, 300))
def test_they_never_begin_with_results(roles: str, most: float) -> None:
    messages = [Message(ROLES[role], (Text("x"),)) for role in roles]
    start = compaction_start(messages, [10.0] * len(messages), most)
    assert start == len(messages) or messages[start].role != "tool"
