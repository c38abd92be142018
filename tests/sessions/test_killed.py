"""A process is killed (-9) at any moment while it stores: everything that it stored is there and can be used."""

import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import pytest

from tark_lsp.agent import history
from tark_lsp.messages import Message, ToolResult
from tests.exhaustive import examples
from tests.sessions.stores import Stores, row, user

pytestmark = pytest.mark.slow  # each test starts many programs

KILLS = examples(10)
WRITER = """
import itertools, sys
from pathlib import Path
from tests.sessions.stores import *

def done(*what):
    sys.stdout.write(" ".join(map(str, what)) + "\\n")
    sys.stdout.flush()

store = SessionStore(lambda: Path(sys.argv[1]), lambda said: done("failed", said))
assert store.acquire_lease("s1") is None, "the one before was killed"
for before in store.log.repair_turns("s1"):
    done("mended", before.id)
done("ready")
for number in itertools.count():
    id_ = f"{sys.argv[2]}-{number}"
    seqs = itertools.count(1)

    def say(update):
        seq = next(seqs)
        store.log.add_update(id_, seq, update)
        done("update", id_, seq)

    def add(message):
        ids = {call.id: f"call-{call.id}" for call in message.tool_calls}
        done("message", store.log.add_message("s1", id_, message, ids), id_)

    store.log.begin_turn(turn(id_, "s1"))
    done("turn", id_)
    say({"kind": "start"})
    add(user(id_))
    for at in range(3):
        say(text(f"{at} of {id_} "))
    calls = f"{id_}-a", f"{id_}-b"
    for id_of_call in calls:
        say(call(f"call-{id_of_call}", "pending"))
    add(calling(*calls))
    for id_of_call in calls:
        say(call(f"call-{id_of_call}", "in_progress"))
        say(call(f"call-{id_of_call}", "completed", content=[{"type": "text", "text": f"result of {id_of_call}"}]))
    add(told(*calls))
    if number % 3 == 2:
        store.log.mark_shortened("s1", 2)
        store.log.mark_compacted("s1", user(f"summary at {id_}"), 2)
    say(text("done"))
    add(answer("done"))
    say({"kind": "end", "sessionId": "s1", "turnId": id_})
    store.log.end_turn(id_, {"sessionId": "s1", "turnId": id_, "stopReason": "end_turn"})
    done("ended", id_)
"""


def killed_after(stores: Stores, name: str, seconds: float) -> list[list[str]]:
    """What a writer reported as stored until it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(stores.file), name], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline().split()]
    while lines[-1] != ["ready"]:
        assert lines[-1], "it ended by itself"
        lines.append(process.stdout.readline().split())
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([process.stdout], [], [], left)[0]:
            lines.append(process.stdout.readline().split())
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    whole = rest[: rest.rfind("\n") + 1]
    return [line for line in (*lines, *(line.split() for line in whole.splitlines())) if line]


@pytest.mark.property
def test_nothing_that_was_stored_is_lost(stores: Stores) -> None:
    first = stores.open()
    first.create_session(row("s1"))
    first.release_leases()
    first.close()
    chance = random.Random(5)
    turns: list[str] = []
    messages: dict[int, str] = {}
    cut = 0
    for kill in range(KILLS):
        said = killed_after(stores, f"w{kill}", chance.uniform(0, 0.12))
        assert not [line for line in said if line[0] == "failed"]
        ended = {line[1] for line in said if line[0] == "ended"}
        turns += [line[1] for line in said if line[0] == "turn"]
        new = {int(line[1]): line[2] for line in said if line[0] == "message"}
        assert not new.keys() & messages.keys(), "numbers count on"
        messages |= new

        store = stores.open()
        assert store.acquire_lease("s1") is None, "the killed one holds nothing"
        found = {stored.number: stored.turn_id for stored in store.log.messages("s1")}
        assert messages.items() <= found.items()
        assert list(found) == list(range(1, len(found) + 1)), "and none is missing in between"
        known = [turn.id for turn in store.log.turns("s1")]
        assert [turn_id for turn_id in known if turn_id in turns] == turns
        unended = [turn.id for turn in store.log.unended_turns("s1")]
        assert not ended & set(unended)
        assert len(unended) <= 1
        cut += len(unended)
        for turn in unended:
            seqs = [seq for seq, _ in store.log.updates(turn)]
            last = max([int(line[2]) for line in said if line[:2] == ["update", turn]], default=0)
            assert seqs == list(range(1, len(seqs) + 1))
            assert len(seqs) >= last
        shown = {
            turn: [update for _, update in store.log.updates(turn) if update["kind"] == "text"] for turn in unended
        }
        assert [turn.id for turn in store.log.repair_turns("s1")] == unended
        told = store.log.history("s1").messages
        history.check_history(told)
        for turn in unended:
            check_repaired(
                turn, shown[turn], [stored.message for stored in store.log.messages("s1") if stored.turn_id == turn]
            )
        assert store.log.unended_turns("s1") == []
        store.release_leases()
        store.close()
    assert turns, "something was written before it was killed"
    assert cut or KILLS < 10, "and some turn was cut"
    assert stores.said == []


def check_repaired(turn: str, shown: Sequence[Mapping[str, str]], messages: list[Message]) -> None:
    """The messages of the turn have all the text that was shown, and the results of all calls that were done."""
    assert not messages or messages[0] == user(turn)
    last = messages[-1] if messages else None
    if last is not None and last.role == "assistant" and last.text.endswith("[interrupted]") and len(messages) == 2:
        assert last.text.startswith("".join(update["delta"] for update in shown).strip())
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) and not part.is_error:
                assert part.content == f"result of {part.call_id}"


@pytest.mark.parametrize("count", [3])
def test_several_write_different_sessions_at_once(stores: Stores, count: int) -> None:
    code = """
import sys
from pathlib import Path
from tests.sessions.stores import *
said = []
store = SessionStore(lambda: Path(sys.argv[1]), said.append)
print("ready", flush=True)
sys.stdin.readline()
name = sys.argv[2]
for number in range(10):
    begun(store, name, f"{name}-{number}", user("a"), calling("1"), told("1"), answer("b"))
    shown(store, f"{name}-{number}", *[text("b")] * 20)
    store.log.end_turn(f"{name}-{number}", {})
    store.renew_leases()
store.release_leases()
sys.exit(str(said) if said else 0)
"""
    command = [sys.executable, "-c", code, str(stores.file)]
    pipe = subprocess.PIPE
    writers = [subprocess.Popen([*command, f"s{number}"], stdin=pipe, stdout=pipe) for number in range(count)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    store = stores.open()
    for number in range(count):
        assert len(store.log.messages(f"s{number}")) == 40
        assert len(store.log.turns(f"s{number}")) == 10
        assert store.log.unended_turns(f"s{number}") == []
    assert store.lease_holders() == {}
