"""Random updates and stored sessions. Their fields and the types of these are those of the cases (`*.json`)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.protocol.transcript import Json

CASES = sorted(Path(__file__).parent.glob("*.json"))
SESSION = "session-1"
TURNS = ("turn-1", "turn-2", "turn-3")

texts = st.text(st.characters(codec="utf-8"), max_size=8)
CHOSEN: Mapping[str, st.SearchStrategy[Any]] = {
    "turnId": st.sampled_from((*TURNS, "")),
    "toolCallId": st.sampled_from(("call-1", "call-2", "call-3")),
    "role": st.sampled_from(("user", "assistant")),
    "state": st.sampled_from(("queued", "running", "ended")),
    "seq": st.integers(0, 5),
    "text": texts | texts.map("{}\n\n[interrupted]".format),
}
"""The values of these fields, which decide what happens."""


def read(path: Path) -> Json:
    case: Json = json.loads(path.read_bytes())
    return case


def like(values: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Values of the types of these values."""
    objects = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    others = [value for value in values if not isinstance(value, dict | list)]
    items = [item for value in lists for item in value]
    return st.one_of(
        *([like_objects(objects)] if objects else []),
        *([st.lists(like(items), max_size=2) if items else st.just([])] if lists else []),
        *([st.sampled_from(others)] if others else []),
        *([texts] if any(isinstance(value, str) for value in others) else []),
    )


def like_objects(objects: Sequence[Json]) -> st.SearchStrategy[dict[str, Any]]:
    """Fields that some of these objects lack can be absent or null."""
    fields = {
        name: CHOSEN[name] if name in CHOSEN else like([known[name] for known in objects if name in known])
        for name in dict.fromkeys(name for known in objects for name in known)
    }
    required = {name: values for name, values in fields.items() if all(name in known for known in objects)}
    optional = {name: st.none() | values for name, values in fields.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


_STEPS = [step for path in CASES for step in read(path)["steps"]]
_UPDATES = [step["update"]["update"] for step in _STEPS if "update" in step]
_SESSIONS = [step["opened"] for step in _STEPS if "opened" in step]


def updates_of(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    known = [update for update in _UPDATES if update["kind"] == kind]
    return like_objects(known).map(lambda update: {**update, "kind": kind})


updates = st.one_of([updates_of(kind) for kind in sorted({update["kind"] for update in _UPDATES})])
messages = like_objects([message for session in _SESSIONS for message in session["messages"]])
turns = like_objects([turn for session in _SESSIONS for turn in session["turns"]])


@st.composite
def sessions(draw: st.DrawFn) -> Json:
    """Answers of `tark.session.open`."""
    numbered = [
        {**message, "messageId": f"{SESSION}.{number}"} for number, message in enumerate(draw(st.lists(messages)))
    ]
    known = [{**draw(turns), "turnId": turn} for turn in draw(st.lists(st.sampled_from(TURNS), unique=True))]
    return {"sessionId": SESSION, "messages": numbered, "turns": known, "earlier": draw(st.booleans())}
