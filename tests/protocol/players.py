"""Who plays cases: each of the three reducers, ours in this process, the others in one process each for all cases.

A case is `{sessionId, steps}`, a step one of `{update}` (params of `tark/update`), `{asked}` and `{steered}`
(`{turnId, prompt}`), `{interrupted}`, `{opened}` (an answer of `tark.session.open`). It makes `{transcript, changes}`,
a change for each step: null, or its kind and the number of its block, from 0.
"""

import json
import subprocess
from collections.abc import Sequence
from typing import Any, Protocol

from tests.protocol.stored_session import from_session
from tests.protocol.transcript import Change, Json, Transcript


class Player(Protocol):
    def play(self, case: Json) -> Json: ...

    def close(self) -> None: ...


class Python:
    def play(self, case: Json) -> Json:
        transcript, changes = Transcript(case["sessionId"]), []
        for step in case["steps"]:
            change = None
            match step:
                case {"update": params}:
                    change = transcript.reduce(params)
                case {"asked": {"turnId": turn_id, "prompt": prompt}}:
                    change = transcript.asked(turn_id, prompt)
                case {"steered": {"turnId": turn_id, "prompt": prompt}}:
                    change = transcript.steered(turn_id, prompt)
                case {"interrupted": _}:
                    transcript.interrupted()
                case {"opened": answer}:
                    transcript = from_session(answer)
                case _:
                    raise ValueError(step)
            changes.append(_words(change))
        return {"transcript": transcript.json(), "changes": changes}

    def close(self) -> None:
        pass


class Process:
    """Reads a case from each line, writes what it makes as a line."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def play(self, case: Json) -> Json:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(self._process.communicate()[1].decode())
        played: Json = json.loads(line)
        return played

    def close(self) -> None:
        self._process.communicate()


def without_nulls(value: Any) -> Any:
    """Lua has no fields that are null: they are absent."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _words(change: Change | None) -> str | None:
    if change is None:
        return None
    return change.kind if change.block is None else f"{change.kind} {change.block}"
