"""The three reducers make the same of any updates, also of cut, doubled and mixed ones. Doubled ones change nothing."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exhaustive import examples
from tests.protocol.conftest import Players
from tests.protocol.like_cases import SESSION, TURNS, sessions, texts, updates
from tests.protocol.players import without_nulls
from tests.protocol.transcript import Json

pytestmark = pytest.mark.slow  # it starts Neovim and Node


def update(turn: str, seq: int, told: Json, session: str = SESSION) -> Json:
    return {"update": {"sessionId": session, "turnId": turn, "seq": seq, "update": told}}


steps = st.one_of(
    st.builds(
        update, st.sampled_from(TURNS), st.integers(1, 12), updates, st.sampled_from((SESSION, SESSION, "other"))
    ),
    st.builds(
        lambda name, turn, prompt: {name: {"turnId": turn, "prompt": prompt}},
        st.sampled_from(("asked", "steered")),
        st.sampled_from(TURNS),
        texts,
    ),
    st.just({"interrupted": True}),
    sessions().map(lambda answer: {"opened": answer}),
)


def numbered(told: Iterable[tuple[str, Json]]) -> list[Json]:
    """As a server sends them: each turn counts from 1."""
    last: dict[str, int] = {}
    sent = []
    for turn, item in told:
        last[turn] = last.get(turn, 0) + 1
        sent.append(update(turn, last[turn], item))
    return sent


sent = st.lists(st.tuples(st.sampled_from(TURNS), updates), max_size=25).map(numbered)


@settings(max_examples=examples(40))
@given(st.lists(steps, max_size=20))
def test_whatever_comes(players: Players, case: list[Json]) -> None:
    made = [
        without_nulls(players(language).play({"sessionId": SESSION, "steps": case}))
        for language in ("python", "lua", "typescript")
    ]
    assert made[0] == made[1]
    assert made[0] == made[2]


@given(sent, st.data())
def test_what_is_doubled_changes_nothing(players: Players, steps: list[Json], data: st.DataObject) -> None:
    again = [steps[: place + 1] for place in range(len(steps)) if data.draw(st.booleans())]
    doubled, done = [], 0
    for before in again:
        doubled += steps[done : len(before)]
        doubled += before  # all that was sent until here, once more
        done = len(before)
    doubled += steps[done:]
    play = players("python").play
    once, twice = (play({"sessionId": SESSION, "steps": step})["transcript"] for step in (steps, doubled))
    assert once == twice
    assert not any(turn["gap"] for turn in once["turns"])


@given(sent.filter(lambda steps: len(steps) > 1), st.data())
def test_a_missing_update_is_seen(players: Players, steps: list[Json], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(steps) - 2))
    turn = steps[place]["update"]["turnId"]
    made = players("python").play({"sessionId": SESSION, "steps": [*steps[:place], *steps[place + 1 :]]})
    shown = {item["turnId"]: item for item in made["transcript"]["turns"]}
    later = any(step["update"]["turnId"] == turn for step in steps[place + 1 :])
    if turn in shown:
        assert shown[turn]["gap"] == later
