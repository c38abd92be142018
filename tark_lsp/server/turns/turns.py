"""Starts turns, queues them within their session, cancels and ends them."""

import asyncio
import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from tark_lsp.agent import events
from tark_lsp.agent.kinds import Kind
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn, TurnEnd, take_steering
from tark_lsp.errors import TarkError
from tark_lsp.log_ids import log_context
from tark_lsp.messages import StopReason, ToolCall, Usage
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.targets import Target
from tark_lsp.server.protocol import incoming
from tark_lsp.server.sessions.title_text import turn_title
from tark_lsp.server.turns.answer_display import AnswerDisplay
from tark_lsp.server.turns.session_queues import SessionQueues
from tark_lsp.server.turns.turn_faults import note_fault, notify, with_fault
from tark_lsp.server.turns.turn_record import Follower, Observer, TurnRecord
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.server.turns.update_writer import UpdateWriter, progress_summary
from tark_lsp.server.turns.updates import Progress, ProgressTokens, Updates
from tark_lsp.visible import cut

LONGEST_GIVEN_BACK = 2_000
"""The most characters of an unsent steering message that a notice shows."""


class Prepare(Protocol):
    """Prepares the agent's turn for a request. A TarkError becomes the turn's error."""

    async def __call__(self, record: TurnRecord, emit: events.EventListener) -> Turn: ...


class Turns:
    def __init__(
        self,
        connection: Connection,
        tokens: ProgressTokens,
        records: TurnRecords,
        prepare: Prepare,
        writer: UpdateWriter,
        display: AnswerDisplay,
    ) -> None:
        self._connection = connection
        self._tokens = tokens
        self._records = records
        self._prepare = prepare
        self._writer = writer
        self._display = display
        self._observers: list[Observer] = []
        self._queues = SessionQueues()

    def listen(self, observer: Observer) -> None:
        """Adds an observer. They are called in the order in which they were added, before the client is notified."""
        self._observers.append(observer)

    def start(
        self,
        request: incoming.StartTurn,
        kind: Kind,
        session: Session,
        target: Target | None,
        follower: Follower | None = None,
        calls: tuple[ToolCall, ...] = (),
    ) -> dict[str, Any]:
        """Returns the answer to `tark.turn.start`. The work begins after that. `calls`: run in place of a model."""
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
            calls,
        )
        record.updates.before_sending = partial(_on_update_sent, self._observers, record)
        self._records.remember(record)
        notify(self._observers, record, lambda observer: observer.on_turn_accepted(record))
        self._records.forget_old()
        ahead = self._queues.join(record)
        if not ahead:
            self._begin(record)
        return {"sessionId": session.id, "turnId": turn_id, **({"queued": ahead} if ahead else {})}

    @contextlib.contextmanager
    def held_back(self, session_id: str) -> Iterator[None]:
        """Inside the block, the turns of the session wait; none may run. Raises RequestError if they wait already."""
        self._queues.hold(session_id)
        try:
            yield
        finally:
            if (first := self._queues.release(session_id)) is not None:
                self._begin(first)

    def is_held_back(self, session_id: str) -> bool:
        """Whether the session's turns wait for a compaction."""
        return self._queues.is_held(session_id)

    def cancel(self, turn_id: str | None = None, session_id: str | None = None) -> list[str]:
        """Cancel one turn, all turns of a session, or all turns. Returns the ids of those that ran or waited."""
        wanted = [
            record
            for record in self._records.active_turns()
            if turn_id in (None, record.id) and session_id in (None, record.session.id)
        ]
        for record in reversed(wanted):  # queued turns first, so that none of them begins meanwhile
            if record.task is None:
                self._queues.leave(record)
                self._end(record, TurnEnd(StopReason.CANCELLED, "", Usage(), {}))
                record.release_memory()
            else:
                record.task.cancel()
        return [record.id for record in wanted]

    async def stop(self) -> None:
        """Ends every turn as `cancelled`, at shutdown."""
        tasks = [record.task for record in self._records.active_turns() if record.task is not None]
        self.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    def emit(self, record: TurnRecord, event: events.AgentEvent) -> None:
        """Notify the observers, then the client.

        The rest of an answer's text is sent before the message that contains it. So an observer that stores both knows
        that text after the last message is not in any message.

        Raises what the writer raises, so that a call that the user cannot see does not run. The turn ends as an error.
        """
        if isinstance(event, events.MessageAdded):
            record.updates.flush()
        if isinstance(event, events.UsageChanged):
            record.context = (event.context_used, event.context_window)
        notify(self._observers, record, lambda observer: observer.on_turn_event(record, event))
        try:
            self._writer.write_event(record, event)
        except Exception as error:
            note_fault(record, error)
            raise

    def _begin(self, record: TurnRecord) -> None:
        with log_context(session_id=record.session.id, turn_id=record.id):  # for log records of the turn and its tasks
            record.task = asyncio.create_task(self._run(record), name=record.id)
        record.task.add_done_callback(partial(self._end_if_open, record))

    def _end_if_open(self, record: TurnRecord, task: "asyncio.Task[None]") -> None:
        """Ends a turn whose task did not: it was cancelled before its first step, so none of its code ran."""
        if not record.over:
            if not task.cancelled() and isinstance(error := task.exception(), Exception):
                note_fault(record, error)
            self._end(record, TurnEnd(StopReason.CANCELLED, "", Usage(), {}))
            self._begin_next(record)
            record.release_memory()

    async def _run(self, record: TurnRecord) -> None:
        try:
            end = await self._do(record)
        except asyncio.CancelledError:  # before run_turn began; later, run_turn handles a cancellation
            end = TurnEnd(StopReason.CANCELLED, "", Usage(), {})
        except TarkError as error:
            end = TurnEnd(StopReason.ERROR, "", Usage(), {}, error=error)
        except Exception as error:  # noqa: BLE001  note_fault logs it
            note_fault(record, error)
            end = TurnEnd(StopReason.ERROR, "", Usage(), {})
            if record.turn is not None:
                end = record.turn.build_end(StopReason.ERROR)
        payload = self._end(record, end)
        self._begin_next(record)
        with contextlib.suppress(asyncio.CancelledError):
            if record.follower is None or not await record.follower.end_answer(payload):
                await self._display.show_end(record, payload)
        record.release_memory()

    async def _do(self, record: TurnRecord) -> TurnEnd:
        record.began = True
        await record.progress.begin()
        if record.follower is not None:
            await record.follower.begin_answer()
        turn = record.turn = await self._prepare(record, partial(self.emit, record))
        self._writer.write_start(record)
        for note in record.notes:
            self.emit(record, events.Notice("warning", note))
        from tark_lsp.agent.turn import run_turn  # takes 0.5 MB, and is not needed at the start

        return await run_turn(turn)

    def _end(self, record: TurnRecord, end: TurnEnd) -> dict[str, Any]:
        """Whatever fails, the turn ends, because clients wait for that. After a fault, it ends as an error."""
        payload: dict[str, Any] = {}
        try:
            payload = self._send_end(record, end)
        except Exception as error:  # noqa: BLE001  note_fault logs it
            note_fault(record, error)
            payload = self._writer.end_payload(record, with_fault(record, TurnEnd(StopReason.ERROR, "", Usage(), {})))
            with contextlib.suppress(Exception):  # nothing can be sent
                record.updates.send("end", **payload)
        notify(self._observers, record, lambda observer: observer.on_turn_ended(record, payload))
        record.ended.set_result(payload)
        return payload

    def _send_end(self, record: TurnRecord, end: TurnEnd) -> dict[str, Any]:
        if not record.updates.seq:  # the turn ended before it started, and clients expect a start of every turn
            self._writer.write_start(record)
        for words in take_steering(record.steering):  # they were accepted, so the user expects that the model got them
            note = f"not sent to the model, since the turn ended: {cut(words, LONGEST_GIVEN_BACK)}"
            self.emit(record, events.Notice("warning", note))
        record.updates.flush()
        end = with_fault(record, end)
        record.progress.end(progress_summary(end, record.turn))
        payload = self._writer.end_payload(record, end)
        record.updates.send("end", **payload)
        return payload

    def _begin_next(self, record: TurnRecord) -> None:
        if (following := self._queues.leave(record)) is not None:
            self._begin(following)


def _on_update_sent(observers: Sequence[Observer], record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
    notify(observers, record, lambda observer: observer.on_update_sent(record, seq, update))
