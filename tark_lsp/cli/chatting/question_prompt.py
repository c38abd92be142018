"""Asks questions at the bottom of the terminal, so that no key answers a question that the user has not seen.

A question waits until the user stopped typing, and drops keys that were typed before it appeared. The answer is a line
and Enter, or one key. Afterwards, the prompt that was being typed is shown again.
"""

import asyncio
import time
from collections.abc import Callable
from enum import Enum, auto

from prompt_toolkit.buffer import Buffer

from tark_lsp.cli.keyboard import discard_typed_input
from tark_lsp.cli.visible import visible

QUIET_SECONDS = 0.7
"""How long the user must not have typed before a question takes the keyboard: the same as in editors (protocol.md)."""
ON_SCREEN_SECONDS = 0.3
"""How long the whole question must have been on the screen before a key answers it."""
AFTER_ANSWER_SECONDS = 0.3
"""How long keys are dropped after an answer, so that further keys do not become a prompt."""


WAITS = "a question waits: stop typing to see it; nothing is lost"
TOO_EARLY = "this key came too early to be an answer: stop typing for a moment, then press it"


class KeyTarget(Enum):
    """Where keys go."""

    PROMPT = auto()
    ANSWER = auto()
    NOTHING = auto()


class QuestionPrompt:
    """`focus(True)` moves the keyboard focus to the answer, `focus(False)` to the prompt; `redraw()` draws again."""

    def __init__(
        self, print_line: Callable[[str, str], None], *, focus: Callable[[bool], None], redraw: Callable[[], None]
    ) -> None:
        self.answer = Buffer(multiline=False)
        self.key_target = KeyTarget.PROMPT
        self.question = self.keys = self._hint = ""
        self._print_line, self._focus, self._redraw = print_line, focus, redraw
        self._typed_at = self._quiet_before_key = 0.0
        self._shown_at: float | None = None
        self._answered: asyncio.Future[str | None] | None = None
        self._one_question = asyncio.Lock()
        self._reopening: asyncio.TimerHandle | None = None

    @property
    def open_question(self) -> str:
        """The question that has the keyboard; "" if none has it."""
        return self.question if self.key_target is KeyTarget.ANSWER else ""

    @property
    def note(self) -> str:
        """A note for the user about how to answer; "" if there is none."""
        waits = self.question and self.key_target is not KeyTarget.ANSWER
        return WAITS if waits else self._hint if self.open_question else ""

    def note_key(self) -> None:
        """Called before each key."""
        now = time.monotonic()
        self._quiet_before_key, self._typed_at = now - self._typed_at, now

    def note_drawn(self) -> None:
        """Called after the bottom lines were drawn."""
        if self._shown_at is None and self.open_question:
            self._shown_at = time.monotonic()

    async def ask(self, question: str, keys: str = "", *, at_once: bool = False) -> str | None:
        async with self._one_question:
            self.question, self.keys = question, keys
            try:
                if not at_once:
                    await self._wait_until_quiet()
                typed = await self._open(at_once=at_once)
                self._print_line(f"{question}{'no answer' if typed is None else visible(typed)}", "bold")
                return typed
            except asyncio.CancelledError:
                if self._answered is not None:
                    self._print_line(f"{question}the answer is no longer needed", "dim")
                raise
            finally:
                self.question = self.keys = ""
                if self._answered is not None:
                    self._answered, self.key_target = None, KeyTarget.NOTHING
                    self._focus(False)
                    self._reopening = asyncio.get_running_loop().call_later(AFTER_ANSWER_SECONDS, self._accept_prompts)
                self._redraw()

    def answer_with(self, text: str | None) -> None:
        """Answers the open question. Keys after this and before the next question are dropped."""
        self.note_key()
        if self._answered is not None and not self._answered.done():
            self.key_target = KeyTarget.NOTHING
            self._answered.set_result(text)

    def press_key(self, key: str) -> None:
        """Handles a key while a question is open that is answered by one key. `key` is "" for other input, such as a
        paste."""
        seen = self._shown_at is not None and time.monotonic() - self._shown_at >= ON_SCREEN_SECONDS
        if not seen or self._quiet_before_key < QUIET_SECONDS:
            self._hint = TOO_EARLY
        elif key.lower() in tuple(self.keys):
            self.answer_with(key.lower())
        else:
            self._hint = f"press one of these keys: {' '.join(self.keys)}"

    def give_up(self) -> bool:
        """Ends the open question without an answer. Returns whether there was one."""
        asked = self.key_target is KeyTarget.ANSWER
        self.answer_with(None)
        return asked

    async def _wait_until_quiet(self) -> None:
        """Waits until the user stops typing. Until then, they type a prompt, or the rest of another answer."""
        while (wait := self._typed_at + QUIET_SECONDS - time.monotonic()) > 0:
            self._redraw()
            await asyncio.sleep(wait)

    def _open(self, *, at_once: bool) -> "asyncio.Future[str | None]":
        if self._reopening is not None:
            self._reopening.cancel()
        if not at_once:
            discard_typed_input()
        self.answer.reset()
        self._hint, self._shown_at = "", None
        self.key_target = KeyTarget.ANSWER
        self._focus(True)
        self._redraw()
        self._answered = answered = asyncio.get_running_loop().create_future()
        return answered

    def _accept_prompts(self) -> None:
        self.key_target = KeyTarget.PROMPT
