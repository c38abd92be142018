"""Questions of the model and of Tark itself: `tark/requestInput`, or a message with at most four answers."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from tark_lsp.errors import RequestError, ToolError
from tark_lsp.listeners import Listeners
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.protocol import incoming
from tark_lsp.tools.editor import Option
from tark_lsp.visible import visible

MOST_ACTIONS = 4
REMEMBERED_ANSWERS = 1000


@dataclass(eq=False, slots=True)
class WaitingInput:
    turn_id: str
    session_id: str
    question: str
    options: Sequence[Option]
    multiple: bool
    free_text: bool
    by_model: bool
    answer: "asyncio.Future[str | list[str] | None]"
    id: str = field(default_factory=lambda: f"input-{secrets.token_hex(6)}")

    def json(self) -> dict[str, Any]:
        return {
            "requestId": self.id,
            "sessionId": self.session_id,
            "turnId": self.turn_id,
            "question": self.question,
            "options": [{"id": option.id, "label": option.label} for option in self.options],
            "multiple": self.multiple,
            "freeText": self.free_text,
            **({"byModel": True} if self.by_model else {}),
        }


class Inputs:
    def __init__(self, connection: Connection, questions: Questions) -> None:
        self._connection = connection
        self._questions = questions
        self._changes = Listeners[None]()
        self._waiting: dict[str, WaitingInput] = {}
        self._over: deque[str] = deque(maxlen=REMEMBERED_ANSWERS)

    def commands(self) -> Iterable[Command]:
        yield Command("tark.input.answer", incoming.InputAnswer, self._answer_command)

    def state(self, session_id: str | None) -> list[dict[str, Any]]:
        """For `tark.state`."""
        return [waiting.json() for waiting in self.waiting() if session_id in (None, waiting.session_id)]

    def listen(self, listener: Callable[[None], object]) -> Callable[[], None]:
        """Call `listener` when a question starts or stops waiting."""
        return self._changes.listen(listener)

    def waiting(self) -> list[WaitingInput]:
        return list(self._waiting.values())

    async def ask(
        self,
        turn_id: str,
        session_id: str,
        question: str,
        options: Sequence[Option],
        multiple: bool,
        free_text: bool,
        by_model: bool = False,
    ) -> str | list[str] | None:
        """Wait for the answer without a time limit. Raises ToolError `unsupported` if this editor cannot ask."""
        if not self._connection.client.understands("input") and not 0 < len(options) <= MOST_ACTIONS:
            raise ToolError("unsupported", "this editor cannot ask for that", hint="ask in your final answer")
        future: asyncio.Future[str | list[str] | None] = asyncio.get_running_loop().create_future()
        waiting = WaitingInput(turn_id, session_id, question, options, multiple, free_text, by_model, future)
        self._waiting[waiting.id] = waiting
        self._changes.emit(None)
        asking = asyncio.create_task(self._put(waiting))
        try:
            return await future
        finally:
            asking.cancel()
            del self._waiting[waiting.id]
            self._over.append(waiting.id)
            self._changes.emit(None)

    def answer(self, reply: incoming.InputAnswer) -> bool:
        """Answer the question. Returns False if it was already answered or withdrawn.

        Raises RequestError if there was no such question, or if it has no such option.
        """
        if reply.request_id in self._over:
            return False
        waiting = self._waiting.get(reply.request_id)
        if waiting is None:
            raise RequestError(f"requestId: no request {reply.request_id!r} is waiting")
        if waiting.answer.done():
            return False
        check(waiting, reply.answer)
        waiting.answer.set_result(reply.answer)
        return True

    async def _answer_command(self, request: incoming.InputAnswer) -> Any:
        return {"accepted": self.answer(request)}

    async def _put(self, waiting: WaitingInput) -> None:
        if self._connection.client.understands("input"):
            try:
                reply = incoming.InputReply.model_validate(
                    await self._connection.request(incoming.REQUEST_INPUT, waiting.json())
                )
                check(waiting, reply.answer)
            except (RequestFailed, ValidationError, RequestError):  # unanswered: tark.input.answer may still come
                return
            answer = reply.answer
        else:
            labels: dict[str, str] = {}
            for option in waiting.options:
                label = visible(option.label)
                labels[label if label not in labels else f"{label} ({option.id})"] = option.id
            who = "The model" if waiting.by_model else "Tark"
            title = await self._questions.ask(f"{who} asks: {visible(waiting.question)}", list(labels))
            if title is None:
                return
            answer = [labels[title]]
        if not waiting.answer.done():
            waiting.answer.set_result(answer)


def check(waiting: WaitingInput, answer: str | list[str] | None) -> None:
    """Raises RequestError if the question does not allow this answer."""
    if isinstance(answer, str) and not waiting.free_text:
        raise RequestError("answer: this question takes option ids, not text")
    if isinstance(answer, list):
        known = {option.id for option in waiting.options}
        wrong = [option_id for option_id in answer if option_id not in known]
        if wrong:
            raise RequestError(f"answer: {wrong[0]!r} is not an option's id")
        if len(answer) != 1 and not waiting.multiple:
            raise RequestError("answer: this question takes one option")
