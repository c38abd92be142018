"""Turns from their command to their end: started, queued behind one another in a session, cancelled, waited for."""

import asyncio
import contextlib
import logging
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tark_lsp.agent import events
from tark_lsp.agent.kinds import Kind
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn, TurnEnd
from tark_lsp.agent.turn import run_turn, take
from tark_lsp.errors import RequestError, TarkError
from tark_lsp.log_ids import belonging
from tark_lsp.messages import StopReason, Usage
from tark_lsp.server import protocol
from tark_lsp.server.asking.visible import cut
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.protocol_json import error_json, usage_json
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.sessions.titles import turn_title
from tark_lsp.server.turns.telling import Telling, summary
from tark_lsp.server.turns.turn_record import Follower, Observer, TurnRecord
from tark_lsp.server.turns.updates import Progress, ProgressTokens, Updates

log = logging.getLogger(__name__)

REMEMBERED_TURNS = 200
LONGEST_GIVEN_BACK = 2_000
"""Characters of what was said to a turn and was not told to its model."""


class Preparer(Protocol):
    """Makes the agent's turn out of a request; what it cannot make raises TarkError, told as the turn's error."""

    async def __call__(self, record: TurnRecord, emit: events.Listener) -> Turn: ...


class Turns:
    def __init__(
        self,
        connection: Connection,
        tokens: ProgressTokens,
        hunks: HunksJson,
        prepare: Preparer,
        tell_end: Callable[[TurnRecord, dict[str, Any]], Awaitable[None]],
        telling: Telling,
        observers: Sequence[Observer] = (),
    ) -> None:
        """`tell_end`: words for people whose client has no `updates`. `observers` hear everything first, in order."""
        self._connection = connection
        self._tokens = tokens
        self._hunks = hunks
        self._prepare = prepare
        self._tell_end = tell_end
        self._telling = telling
        self._observers = observers
        self._records: OrderedDict[str, TurnRecord] = OrderedDict()
        self._queues: dict[str, list[TurnRecord]] = {}
        self._held_back: set[str] = set()
        """Ids of sessions whose turns wait for something that is no turn."""

    def start(
        self,
        request: protocol.StartTurn,
        kind: Kind,
        session: Session,
        target: Target | None,
        follower: Follower | None = None,
    ) -> dict[str, Any]:
        """The answer to `tark.turn.start`; the work begins after it went out."""
        turn_id = f"turn-{secrets.token_hex(6)}"
        title = turn_title(request.prompt, kind.name)
        record = TurnRecord(
            request,
            kind,
            session,
            target,
            Updates(self._connection, session.id, turn_id),
            Progress(self._connection, self._tokens, turn_id, title),
            turn_id,
            asyncio.get_running_loop().create_future(),
            follower,
        )
        record.updates.about_to_say = partial(self._told, record)
        self._records[turn_id] = record
        for observer in self._observers:
            observer.accepted(record)
        self._forget()
        queue = self._queues.setdefault(session.id, [])
        queue.append(record)
        ahead = len(queue) - 1 + (session.id in self._held_back)
        if not ahead:
            self._begin(record)
        return {"sessionId": session.id, "turnId": turn_id, **({"queued": ahead} if ahead else {})}

    @contextlib.contextmanager
    def held_back(self, session_id: str) -> Iterator[None]:
        """Turns of the session, in which none runs, wait meanwhile. Raises RequestError where they do already."""
        if session_id in self._held_back:
            raise RequestError("sessionId: the same is being done to it already", hint="wait for its end")
        self._held_back.add(session_id)
        try:
            yield
        finally:
            self._held_back.discard(session_id)
            if queue := self._queues.get(session_id):
                self._begin(queue[0])

    def is_held_back(self, session_id: str) -> bool:
        """Is something done to it that is no turn?"""
        return session_id in self._held_back

    def remembers(self, turn_id: str) -> bool:
        return turn_id in self._records

    def find(self, turn_id: str) -> TurnRecord:
        """Raises RequestError for an id that is none."""
        record = self._records.get(turn_id)
        if record is None:
            raise RequestError(f"turnId: there is no turn {turn_id!r}")
        return record

    def title(self, turn_id: str) -> str:
        """What people call it; empty where it is forgotten."""
        record = self._records.get(turn_id)
        return "" if record is None else turn_title(record.request.prompt, record.kind.name)

    def active(self) -> list[TurnRecord]:
        """Running and queued ones, in their order."""
        return [record for record in self._records.values() if not record.over]

    def steer(self, turn_id: str, prompt: str) -> bool:
        record = self.find(turn_id)
        if not record.over:
            record.steering.append(prompt)
        return not record.over

    def cancel(self, turn_id: str | None = None, session_id: str | None = None) -> list[str]:
        """One turn, a session's running and queued ones, or all."""
        wanted = [
            record
            for record in self.active()
            if (turn_id is None or record.id == turn_id) and (session_id is None or record.session.id == session_id)
        ]
        for record in reversed(wanted):  # the queued first, so that none of them begins in between
            if record.task is None:
                self._leave(record)
                self._end(record, TurnEnd(StopReason.CANCELLED, "", Usage(), {}))
                record.let_go()
            else:
                record.task.cancel()
        return [record.id for record in wanted]

    async def wait(self, turn_id: str, token: str | int | None) -> dict[str, Any]:
        """Cancelling it leaves the turn alone; the token was the request's own, and dies with its answer."""
        record = self.find(turn_id)
        if token is not None:
            record.progress.mirror(token)
        try:
            return await asyncio.shield(record.ended)
        except asyncio.CancelledError:
            if token is not None:
                record.progress.forget(token)
            raise

    async def stop(self) -> None:
        """At shutdown: every turn ends `cancelled`."""
        tasks = [record.task for record in self.active() if record.task is not None]
        self.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    def hunks_changed(self, path: Path) -> None:
        """Tell each turn with something to be decided in the file, or decided just now, how that file's hunks stand."""
        update = self._hunks.of(path)
        stands: dict[str, list[tuple[str, str, bool]]] = {}
        for hunk in update["hunks"]:
            stands.setdefault(hunk["turnId"], []).append((hunk["hunkId"], hunk["state"], hunk["applied"]))
        for turn_id, own in stands.items():
            record = self._records.get(turn_id)
            still = any(state == "pending" for _, state, _ in own)
            if record is not None and (still or record.told.get(path) != own):
                record.told[path] = own
                record.updates.send("hunks", **update)

    def _begin(self, record: TurnRecord) -> None:
        with belonging(session_id=record.session.id, turn_id=record.id):  # what it logs, and all it starts
            record.task = asyncio.create_task(self._run(record), name=record.id)
        record.task.add_done_callback(lambda _: self._end_unbegun(record))

    def _end_unbegun(self, record: TurnRecord) -> None:
        """A task that is cancelled before its first step runs not one line of its own."""
        if not record.over:
            self._end(record, TurnEnd(StopReason.CANCELLED, "", Usage(), {}))
            self._next(record)
            record.let_go()

    async def _run(self, record: TurnRecord) -> None:
        end = TurnEnd(StopReason.CANCELLED, "", Usage(), {})
        try:
            end = await self._do(record)
        except asyncio.CancelledError:
            pass  # cancelled before the agent had it; from there on run_turn ends it itself
        except TarkError as error:
            end = TurnEnd(StopReason.ERROR, "", Usage(), {}, error=error)
        except Exception as error:
            log.exception("turn %s failed", record.id)
            fault = TarkError(f"{type(error).__name__}: {error}", hint="this is a defect of tark-lsp; its log has more")
            end = TurnEnd(StopReason.ERROR, "", Usage(), {}, error=fault)
        finally:
            payload = self._end(record, end)
            self._next(record)
        with contextlib.suppress(asyncio.CancelledError):
            if record.follower is None or not await record.follower.end(payload):
                await self._tell_end(record, payload)
        record.let_go()

    async def _do(self, record: TurnRecord) -> TurnEnd:
        record.began = True
        await record.progress.begin()
        if record.follower is not None:
            await record.follower.begin()
        turn = record.turn = await self._prepare(record, partial(self.event, record))
        self._telling.start(record)
        for note in record.notes:
            self.event(record, events.Notice("warning", note))
        return await run_turn(turn)

    def event(self, record: TurnRecord, event: events.AgentEvent) -> None:
        """Tell everybody. What is left of an answer's words goes out before the message that holds them: whoever keeps
        both knows that what was said after the last message is in none."""
        if isinstance(event, events.MessageAdded):
            record.updates.flush()
        if isinstance(event, events.UsageChanged):
            record.context = (event.context_used, event.context_window)
        for observer in self._observers:
            observer.event(record, event)
        self._telling.event(record, event)

    def _told(self, record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
        for observer in self._observers:
            observer.told(record, seq, update)

    def _end(self, record: TurnRecord, end: TurnEnd) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "sessionId": record.session.id,
            "turnId": record.id,
            "stopReason": end.stop_reason,
            "text": end.text,
            "edits": [{"uri": self._hunks.uri(path), "state": state} for path, state in end.edits.items()],
            "changedByCommand": [self._hunks.uri(path) for path in end.changed_by_command],
            "usage": usage_json(end.usage, *record.context),
        }
        if end.error is not None:
            payload["error"] = error_json(end.error.code, end.error.message, end.error.hint)
        if not record.updates.seq:  # it never got as far, and every turn that ends has started
            self._telling.start(record)
        for words in take(record.steering):  # it was accepted, so nobody may think that it was told
            self.event(
                record,
                events.Notice(
                    "warning", f"not told to the model, since the turn ended: {cut(words, LONGEST_GIVEN_BACK)}"
                ),
            )
        record.progress.end(summary(end, record.turn))
        record.updates.send("end", **payload)
        for observer in self._observers:
            observer.ended(record, payload)
        record.ended.set_result(payload)
        return payload

    def _next(self, record: TurnRecord) -> None:
        self._leave(record)
        if queue := self._queues.get(record.session.id):
            self._begin(queue[0])

    def _leave(self, record: TurnRecord) -> None:
        queue = self._queues[record.session.id]
        queue.remove(record)
        if not queue:
            del self._queues[record.session.id]

    def _forget(self) -> None:
        over = [record for record in self._records.values() if record.over]
        for record in over[: max(0, len(over) - REMEMBERED_TURNS)]:
            del self._records[record.id]
