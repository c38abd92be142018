"""The states of a hunk: every state and every event, against a table that is written out here."""

import ast
from pathlib import Path

import pytest

import tark_lsp
from tark_lsp.agent.user_interface import HunkState
from tark_lsp.review.hunk import Alarm, ReviewHunk
from tark_lsp.review.life import TRANSITIONS, Event, ImpossibleTransition, Life
from tark_lsp.workspace.lines import Hunk

SOURCE = Path(tark_lsp.__file__).parent
PATH = Path("/f.py")
NAMES = {
    "P": Life.PROPOSED,
    "p": Life.APPLYING,
    "A": Life.APPLIED,
    "a": Life.CHANGING,
    "Y": Life.ACCEPTED,
    "N": Life.REJECTED,
    "U": Life.UNDONE,
    "C": Life.CONFLICT,
    "T": Life.TYPED_OVER,
    "F": Life.FAILED,
    "S": Life.STUCK,
}
EXPECTED = {
    #                        P p A a Y N U C T F S
    Event.SENT: "            p - a - - - - - - - -",
    Event.NOT_WRITTEN: "     - P - A - - - - - - -",
    Event.WRITTEN: "         A A A A - - A T T S S",
    Event.TAKEN_BACK: "      - - P P - - U C C F F",
    Event.TOUCHED: "         C C T T Y N U C T F S",
    Event.UNDONE: "          - - U U - - - - U - U",
    Event.REDONE: "          - - - - - - A - - - -",
    Event.RESTORED: "        - - - - - - - P A - -",
    Event.FAILED: "          F F S S - - - F S F S",
    Event.GONE: "            F F S S - - - F S F S",
    Event.RETRIED: "         - - - - - - - - - P A",
    Event.ACCEPTED: "        - - Y - - - - - Y - Y",
    Event.REJECTED: "        N - - - - - - N - N -",
    Event.FORMATTED: "       - - - - - - - - A - -",
    Event.REOPENED: "        - - - - A - - - - - -",
    Event.EDITED: "          P - - - - - P P P P P",
    Event.CONFIRMED: "       Y - - - - Y Y Y - Y -",
    Event.TURN_UNDONE: "     - - N - - - N - N - N",
    Event.FOUND_WRITTEN: "   A - - - - - - A - - -",
    Event.FOUND_TAKEN_BACK: "- - P - - - - - P - -",
}
"""For each event, what becomes of the hunk in each state; `-` is impossible."""


def in_life(life: Life) -> ReviewHunk:
    hunk = Hunk(3, ("old\n",), ("new\n", "and more\n"))
    return ReviewHunk(
        id="hunk",
        turn_id="turn",
        proposed=hunk,
        origin=PATH,
        path=PATH,
        source=PATH,
        start=3,
        size=2 if life.applied else 1,
        old=hunk.old,
        new=hunk.new,
        life=life,
        reason="before",
        alarm=Alarm("alarm"),
    )


def test_the_table_has_every_state_and_event() -> None:
    assert set(EXPECTED) == set(Event)
    assert set(NAMES.values()) == set(Life)
    assert len(TRANSITIONS) == sum(name != "-" for row in EXPECTED.values() for name in row.split())


@pytest.mark.parametrize("event", Event)
def test_what_each_event_makes_of_each_state(event: Event) -> None:
    for life, name in zip(NAMES.values(), EXPECTED[event].split(), strict=True):
        hunk = in_life(life)
        if name == "-":
            with pytest.raises(ImpossibleTransition, match=f"{life.label} cannot be {event.value}"):
                hunk.apply(event)
        else:
            assert hunk.apply(event).life is NAMES[name], life
        assert hunk == in_life(life), "a value never changes"


@pytest.mark.parametrize("life", Life)
def test_an_applied_hunk_has_its_new_lines_in_the_text(life: Life) -> None:
    hunk = in_life(life)
    assert hunk.standing == (hunk.new if hunk.applied else hunk.old)
    assert hunk.undecided is (hunk.state not in ("accepted", "rejected"))
    assert not (hunk.pending and hunk.blocked)
    assert (hunk.life.outcome is HunkState.APPLIED) is hunk.applied, "what is in the text is applied to the model"
    assert not hunk.life.in_flight or hunk.pending


@pytest.mark.parametrize("life", Life)
def test_whatever_happens_what_is_in_the_text_is_known(life: Life) -> None:
    """Only events that change the text, or find it changed, change what is applied; only these move the lines."""
    writes = {Event.WRITTEN, Event.REDONE, Event.CONFIRMED, Event.FOUND_WRITTEN}
    removes = {Event.TAKEN_BACK, Event.UNDONE, Event.EDITED, Event.TURN_UNDONE, Event.FOUND_TAKEN_BACK}
    for event in Event:
        if (life, event) in TRANSITIONS:
            before, after = in_life(life), in_life(life).apply(event, start=7)
            expected = True if event in writes else False if event in removes else before.applied
            assert after.applied is expected, event
            assert (after.start, after.size) == (7, len(after.standing))


def test_reasons_and_alarms() -> None:
    hunk = in_life(Life.APPLIED)
    assert hunk.touch("why").reason == "why"
    assert hunk.touch("why").touch("and again").reason == "why", "the first reason says what happened"
    assert hunk.touch("why").alarm is None
    assert hunk.apply(Event.ACCEPTED) == in_life(Life.ACCEPTED)
    assert hunk.touch("why").apply(Event.RESTORED, start=3).reason == ""
    assert in_life(Life.PROPOSED).apply(Event.REJECTED, reason="no").reason == "no"


def test_only_events_change_a_state() -> None:
    """In the source, `life` is set where a hunk is made from a proposal or from its row, and by `apply`."""
    setters = set()
    for path in sorted((SOURCE / "review").rglob("*.py")) + sorted((SOURCE / "server").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and any(keyword.arg == "life" for keyword in node.keywords):
                setters.add(path.relative_to(SOURCE).as_posix())
    assert setters == {"review/hunk.py", "review/restoring.py"}
