"""Whatever comes, cut, doubled or mixed: the three reducers make the same of it; what is doubled changes nothing."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exhaustive import examples
from tests.protocol.conftest import Players
from tests.protocol.players import without_nulls
from tests.protocol.transcript import Json

pytestmark = pytest.mark.slow  # it starts Neovim and Node

SESSION = "session-1"
TURNS = ("turn-1", "turn-2", "turn-3")
CALLS = ("call-1", "call-2", "call-3")
STATES = ("pending", "in_progress", "waiting", "completed", "failed", "rejected", "cancelled")

texts = st.text(st.characters(codec="utf-8"), max_size=8)
ranges = st.fixed_dictionaries({"start": st.fixed_dictionaries({"line": st.integers(0, 9)})})
entries = st.lists(st.fixed_dictionaries({"content": texts, "status": st.sampled_from(STATES)}), max_size=2)
content = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2)
numbers = st.integers(0, 10**6)
usages = st.fixed_dictionaries(
    {"inputTokens": numbers},
    optional={
        "costUsd": st.none() | st.sampled_from((0, 0.5, 0.25)),
        "contextWindow": st.none() | numbers,
        "joules": numbers,
    },
)
ends = st.fixed_dictionaries(
    {"stopReason": st.sampled_from(("end_turn", "cancelled", "error"))},
    optional={
        "usage": usages,
        "error": st.none() | st.fixed_dictionaries({"code": texts, "message": texts, "hint": texts}),
        "edits": st.lists(st.fixed_dictionaries({"uri": texts, "state": texts}), max_size=2),
        "changedByCommand": st.lists(texts, max_size=2),
    },
)
FIELDS: Mapping[str, st.SearchStrategy[dict[str, Any]]] = {
    "start": st.fixed_dictionaries(
        {"prompt": texts, "turnKind": texts}, optional={"model": st.none() | texts, "mode": texts, "range": ranges}
    ),
    "text": st.fixed_dictionaries({"delta": texts}),
    "thinking": st.fixed_dictionaries({"delta": texts}),
    "toolCall": st.fixed_dictionaries(
        {"toolCallId": st.sampled_from(CALLS), "status": st.sampled_from(STATES)},
        optional={
            "name": texts,
            "title": st.none() | texts,
            "arguments": texts,
            "locations": st.none() | st.lists(st.fixed_dictionaries({"uri": texts}), max_size=1),
            "content": content,
        },
    ),
    "notice": st.fixed_dictionaries({"level": texts, "message": texts}),
    "plan": st.fixed_dictionaries({"entries": entries}),
    "usage": usages,
    "hunks": st.fixed_dictionaries({"uri": texts, "hunks": st.just([])}),
    "weather": st.fixed_dictionaries({"sky": texts}),
    "end": ends,
}


def of_kind(kind: str) -> st.SearchStrategy[Json]:
    return FIELDS[kind].map(lambda told: {"kind": kind, **told})


updates = st.one_of([of_kind(kind) for kind in FIELDS])

messages = st.fixed_dictionaries(
    {
        "turnId": st.sampled_from((*TURNS, "")),
        "role": st.sampled_from(("user", "assistant")),
        "text": texts | texts.map("{}\n\n[interrupted]".format),
    },
    optional={"thinking": texts, "toolCalls": st.lists(FIELDS["toolCall"], max_size=2)},
)
turns = st.fixed_dictionaries(
    {"prompt": texts, "kind": texts, "state": st.sampled_from(("queued", "running", "ended"))},
    optional={
        "seq": st.integers(0, 5),
        "model": texts,
        "stopReason": st.sampled_from(("end_turn", "cancelled")),
        "plan": entries,
        "notices": st.lists(FIELDS["notice"], max_size=2),
        "usage": usages,
        "steers": st.lists(texts, max_size=2),
        "edits": ends.map(lambda end: end.get("edits")),
    },
)


@st.composite
def opened(draw: st.DrawFn) -> Json:
    numbered = [
        {**message, "messageId": f"{SESSION}.{number}"} for number, message in enumerate(draw(st.lists(messages)))
    ]
    known = [{**draw(turns), "turnId": turn} for turn in draw(st.lists(st.sampled_from(TURNS), unique=True))]
    return {"sessionId": SESSION, "messages": numbered, "turns": known, "earlier": draw(st.booleans())}


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
    opened().map(lambda answer: {"opened": answer}),
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


@settings(max_examples=examples(80))
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
