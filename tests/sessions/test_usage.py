"""Usage: one row for each request, and sums that never count an unknown price as free."""

import sqlite3
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.errors import TarkError
from tark_lsp.messages import ApprovalLevel, Mode, Usage
from tark_lsp.sessions.rows import SessionRow, UsageRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.sessions.usage import By, UsageSum, add_usage, cost_text, since_time, usage_json, usage_sums, usage_total
from tark_lsp.sessions.usage_file import reading

NOON = datetime(2026, 11, 22, 12).timestamp()
HOUR = 3600.0


def row(model: str = "openai/gpt-5", time: float = NOON, cost: float | None = 0.5, **more: str) -> UsageRow:
    ids = {"session_id": "s1", "turn_id": "t1", "purpose": "turn", "stop": "end_turn", **more}
    return UsageRow(model=model, time=time, seconds=2.0, usage=Usage(100, 40, 10, 20, 5, cost), **ids)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite3"


@pytest.fixture
def store(file: Path) -> Iterator[SessionStore]:
    def failed(problem: str) -> None:
        raise AssertionError(problem)

    store = SessionStore(lambda: file, failed)
    yield store
    store.close()


def fill(store: SessionStore) -> None:
    add_usage(store.file, row())
    add_usage(store.file, row(turn_id="t2", cost=None))
    add_usage(store.file, row("ollama/qwen3", NOON + 24 * HOUR, 0.0, session_id="s2", turn_id="t3"))
    add_usage(store.file, row("new/unheard-of", NOON + 25 * HOUR, None, session_id="s2", turn_id="t4", purpose="title"))


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("model", [("openai/gpt-5", 2, 1, 0.5), ("new/unheard-of", 1, 1, None), ("ollama/qwen3", 1, 0, 0.0)]),
        ("day", [("2026-11-22", 2, 1, 0.5), ("2026-11-23", 2, 1, 0.0)]),
        ("session", [("s1", 2, 1, 0.5), ("s2", 2, 1, 0.0)]),
        ("turn", [("t1", 1, 0, 0.5), ("t2", 1, 1, None), ("t3", 1, 0, 0.0), ("t4", 1, 1, None)]),
    ],
)
def test_sums(store: SessionStore, by: By, told: list[tuple[str, int, int, float | None]]) -> None:
    fill(store)
    found = usage_sums(store.file.read, by)
    assert [(row.key, row.requests, row.unpriced, row.usage.cost_usd) for row in found] == told
    assert sum(row.usage.input_tokens for row in found) == 400
    assert sum(row.seconds for row in found) == 8.0


def test_the_total_is_of_all_that_was_asked_for(store: SessionStore) -> None:
    fill(store)
    total = usage_total(store.file.read)
    assert (total.requests, total.unpriced, total.seconds) == (4, 2, 8.0)
    assert total.usage == Usage(400, 160, 40, 80, 20, 0.5)
    assert (total.first, total.last) == (NOON, NOON + 25 * HOUR)
    assert usage_total(store.file.read, NOON + HOUR).requests == 2
    assert usage_total(store.file.read, session_id="s1").requests == 2
    assert usage_total(store.file.read, session_id="nobody") == UsageSum("total")


def test_usage_outlives_its_session(store: SessionStore) -> None:
    store.create_session(SessionRow("s1", "", NOON, NOON, (), None, Mode.BUILD, ApprovalLevel.CAREFUL))
    fill(store)
    store.release_leases("s1")
    store.delete_session("s1")
    assert store.find_session("s1") is None
    assert usage_total(store.file.read, session_id="s1").requests == 2


def test_a_day_is_the_person_s_own(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """One minute to midnight and one past it in Auckland, both the same day in London."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        midnight = datetime(2026, 1, 15).timestamp()
        add_usage(store.file, row(time=midnight - 60))
        add_usage(store.file, row(time=midnight + 60))
        days = [row.key for row in usage_sums(store.file.read, "day")]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert days == ["2026-01-14", "2026-01-15"]


def nowhere() -> Path:
    raise OSError("kept in memory")


COSTS = st.lists(st.one_of(st.none(), st.floats(0, 100, allow_subnormal=False)), min_size=1, max_size=20)


@given(costs=COSTS)
def test_an_unknown_price_is_never_nothing(costs: list[float | None]) -> None:
    memory = SessionStore(nowhere, lambda _: None)
    for number, cost in enumerate(costs):
        add_usage(memory.file, row(turn_id=f"t{number}", cost=cost))
    total = usage_total(memory.file.read)
    memory.close()
    known = [cost for cost in costs if cost is not None]
    assert total.unpriced == len(costs) - len(known)
    assert total.usage.cost_usd == (pytest.approx(sum(known)) if known else None)
    assert ("unknown" in cost_text(total.usage.cost_usd, total.unpriced)) == bool(total.unpriced)


@pytest.mark.parametrize(
    ("cost", "unpriced", "text"),
    [
        (None, 0, ""),
        (None, 2, "unknown"),
        (0.0, 0, "$0.0000"),
        (0.12345, 0, "$0.1235"),
        (1.5, 2, "$1.5000 + 2 unknown"),
    ],
)
def test_cost_in_words(cost: float | None, unpriced: int, text: str) -> None:
    assert cost_text(cost, unpriced) == text


def test_as_json() -> None:
    told = usage_json(UsageSum("m", 2, 2, 1.23456, Usage(10, 4, 1, 3, 2)), "model")
    assert told == {
        "model": "m",
        "requests": 2,
        "inputTokens": 10,
        "cachedTokens": 4,
        "cacheWriteTokens": 1,
        "outputTokens": 3,
        "reasoningTokens": 2,
        "costUsd": None,
        "unpricedRequests": 2,
        "seconds": 1.235,
    }


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("7d", NOON - 7 * 24 * HOUR),
        ("0d", NOON),
        ("2026-11-22", datetime(2026, 11, 22).timestamp()),
        ("2026-11-22T10:00:00+00:00", 1795341600.0),
        ("2026-11-22T10:00:00Z", 1795341600.0),
    ],
)
def test_since(text: str, when: float) -> None:
    assert since_time(text, NOON) == when


@pytest.mark.parametrize("text", ["", "yesterday", "7", "d", "-1d", "2026-13-01", "1e9"])
def test_since_when_nobody_knows(text: str) -> None:
    with pytest.raises(ValueError, match="neither a date"):
        since_time(text, NOON)


def test_it_is_read_while_a_server_writes(store: SessionStore, file: Path) -> None:
    fill(store)
    with reading(file) as read:
        assert read is not None
        assert usage_total(read).requests == 4
        add_usage(store.file, row())
        assert usage_total(read).requests == 5


def test_no_file_and_an_empty_one_hold_nothing(tmp_path: Path) -> None:
    with reading(tmp_path / "none.sqlite3") as read:
        assert read is None
    assert not (tmp_path / "none.sqlite3").exists()
    (tmp_path / "empty.sqlite3").touch()
    with reading(tmp_path / "empty.sqlite3") as read:
        assert read is None


def test_a_damaged_file_is_said_and_left_alone(file: Path) -> None:
    file.write_bytes(b"SQLite format 3\0" + b"junk" * 2000)
    before = file.read_bytes()
    with pytest.raises(TarkError, match="cannot be read"), reading(file):
        pass
    assert file.read_bytes() == before


def test_a_newer_file_is_said(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(TarkError, match="newer"), reading(file):
        pass
