"""The lines at the foot of the terminal: what goes on, the question or the prompt being typed, and the status.

Keys never answer a question that was not seen: it waits until the person has stopped typing, drops what is on its
way, and is answered by a letter or word and Enter. What was typed of a prompt is still there after it.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import TypeVar

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.vt100 import Vt100_Output

from tark_lsp.cli.chatting.above import Above
from tark_lsp.cli.chatting.chat_screen import Line
from tark_lsp.cli.chatting.foot import STYLE, foot
from tark_lsp.cli.chatting.paste import LONGEST_PASTE, LimitedReader
from tark_lsp.cli.keyboard import forget_what_was_typed
from tark_lsp.cli.visible import visible

QUIET_SECONDS = 0.7
"""So long nobody typed, before a question takes the keyboard: as for editors (protocol.md)."""
AFTER_ANSWER_SECONDS = 0.3
"""So long keys are dropped after an answer, so that the rest of it does not become a prompt."""
T = TypeVar("T")


class _Taking(Enum):
    """Where keys go."""

    PROMPT = auto()
    ANSWER = auto()
    NOTHING = auto()


class Terminal:
    """`submit(text)` takes a prompt; `interrupt()` is Ctrl-C, `leave()` is Ctrl-D;
    `going_on(rows, columns)` and `status()` are drawn; `tell(words, style)` prints for good."""

    def __init__(
        self,
        above: Above,
        completer: Completer,
        history: History,
        *,
        submit: Callable[[str], None],
        interrupt: Callable[[], None],
        leave: Callable[[], None],
        tell: Callable[[str, str], None],
        going_on: Callable[[int, int], list[Line]],
        status: Callable[[], str],
    ) -> None:
        self._above = above
        self._submit, self._interrupt, self._leave, self._tell = submit, interrupt, leave, tell
        self._going_on, self._status = going_on, status
        self._taking, self._typed_at, self._question = _Taking.PROMPT, 0.0, ""
        self._answered: asyncio.Future[str | None] | None = None
        self._one_question = asyncio.Lock()
        self._reopening: asyncio.TimerHandle | None = None
        self.draft = Buffer(
            completer=completer,
            complete_while_typing=True,
            history=history,
            multiline=True,
            on_text_changed=self._typed,
        )
        self._answer = Buffer(multiline=False, on_text_changed=self._typed)
        self._app: Application[None] = Application(
            foot(
                self.draft,
                self._answer,
                question=lambda: self._question if self._taking is _Taking.ANSWER else "",
                waiting=lambda: bool(self._question) and self._taking is not _Taking.ANSWER,
                below=self._below,
                status=lambda: f" {visible(self._status())} ",
            ),
            STYLE,
            key_bindings=self._keys(),
            input=_input(),
            output=_output(),
            after_render=lambda _: above.drawn(),
        )
        self._app.ttimeoutlen = 0.1
        above.app = self._app

    async def run(self) -> None:
        """Until `stop`. Raises EOFError where the terminal is gone."""
        await self._app.run_async(handle_sigint=False)

    def stop(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    def redraw(self) -> None:
        self._app.invalidate()

    def clear(self) -> None:
        self._app.renderer.clear()

    def remember(self, text: str) -> None:
        """A prompt to be brought up again by the Up key."""
        self.draft.history.append_string(text)

    def give_back(self, text: str) -> None:
        """Put a prompt that was not used back to be typed on, unless another is begun."""
        if not self.draft.text:
            self.draft.text = text
            self.draft.cursor_position = len(text)

    async def ask(self, question: str) -> str | None:
        async with self._one_question:
            self._question = question
            try:
                await self._quiet()
                typed = await self._open()
                self._tell(f"{question}{'no answer' if typed is None else visible(typed)}", "bold")
                return typed
            except asyncio.CancelledError:
                if self._answered is not None:
                    self._tell(f"{question}nobody needs the answer any more", "dim")
                raise
            finally:
                self._question = ""
                if self._answered is not None:
                    self._answered, self._taking = None, _Taking.NOTHING
                    self._app.layout.focus(self.draft)
                    self._reopening = asyncio.get_running_loop().call_later(AFTER_ANSWER_SECONDS, self._take_prompts)
                self._app.invalidate()

    async def _quiet(self) -> None:
        """Until nobody types: what is being typed is a prompt, or the rest of another answer."""
        while (wait := self._typed_at + QUIET_SECONDS - time.monotonic()) > 0:
            self._app.invalidate()
            await asyncio.sleep(wait)

    def _open(self) -> "asyncio.Future[str | None]":
        if self._reopening is not None:
            self._reopening.cancel()
        forget_what_was_typed()
        self._answer.reset()
        self._taking = _Taking.ANSWER
        self._app.layout.focus(self._answer)
        self._app.invalidate()
        self._answered = answered = asyncio.get_running_loop().create_future()
        return answered

    async def hand_over(self, work: Callable[[], Awaitable[T]]) -> T:
        """Let another program have the terminal while `work` lasts."""
        self._app.renderer.erase()
        self._above.hold()
        try:
            with self._app.input.detach(), self._app.input.cooked_mode():
                return await work()
        finally:
            self._app.renderer.reset()
            self._above.let_go()
            self._app.invalidate()

    def _take_prompts(self) -> None:
        self._taking = _Taking.PROMPT

    def _typed(self, _: Buffer | None = None) -> None:
        self._typed_at = time.monotonic()

    def _below(self) -> StyleAndTextTuples:
        size = self._app.output.get_size()
        lines = self._going_on(max(3, size.rows // 2), max(1, size.columns - 1))
        return [(style, text + ("\n" if number < len(lines) else "")) for number, (style, text) in enumerate(lines, 1)]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        prompting = Condition(lambda: self._taking is _Taking.PROMPT)
        answering = Condition(lambda: self._taking is _Taking.ANSWER)
        closed = Condition(lambda: self._taking is _Taking.NOTHING)

        @keys.add("enter", filter=prompting)
        def _(_: KeyPressEvent) -> None:
            self._enter()

        @keys.add("escape", "enter", filter=prompting)
        @keys.add("c-j", filter=prompting)
        def _(_: KeyPressEvent) -> None:
            self.draft.insert_text("\n")

        @keys.add("tab", filter=prompting)
        def _(_: KeyPressEvent) -> None:
            if self.draft.complete_state:
                self.draft.complete_next()
            else:
                self.draft.start_completion(select_first=True)

        @keys.add("s-tab", filter=prompting)
        def _(_: KeyPressEvent) -> None:
            self.draft.complete_previous()

        @keys.add("enter", filter=answering)
        @keys.add("c-j", filter=answering)
        def _(_: KeyPressEvent) -> None:
            self._answer_with(self._answer.text.strip())

        @keys.add("<any>", filter=closed, eager=True)
        @keys.add("enter", filter=closed, eager=True)
        @keys.add("c-j", filter=closed, eager=True)
        @keys.add("<bracketed-paste>", filter=closed, eager=True)
        def _(_: KeyPressEvent) -> None:
            self._typed()

        @keys.add("<bracketed-paste>", filter=~closed)
        def _(event: KeyPressEvent) -> None:
            self._paste(event.data)

        @keys.add("c-c", eager=True)
        def _(_: KeyPressEvent) -> None:
            self._interrupt()

        @keys.add("c-d", eager=True)
        def _(_: KeyPressEvent) -> None:
            if self._taking is _Taking.ANSWER:
                self._answer_with(None)
            elif not self.draft.text:
                self._leave()

        @keys.add("c-l")
        def _(_: KeyPressEvent) -> None:
            self.clear()

        return keys

    def _enter(self) -> None:
        state, text = self.draft.complete_state, self.draft.text
        if state is not None and state.current_completion is not None:
            self.draft.complete_state = None
        elif text.endswith("\\") and self.draft.document.is_cursor_at_the_end:
            self.draft.delete_before_cursor()
            self.draft.insert_text("\n")
        elif text.strip() and not self._question:  # what is sent while a question waits was meant for nobody
            self.draft.reset()
            self._submit(text.strip())
        self._typed()

    def _answer_with(self, text: str | None) -> None:
        """What is typed after it, and before the next question, belongs to neither."""
        self._typed()
        if self._answered is not None and not self._answered.done():
            self._taking = _Taking.NOTHING
            self._answered.set_result(text)

    def give_up_question(self) -> bool:
        """No answer to the question that is open; whether there was one."""
        asked = self._taking is _Taking.ANSWER
        self._answer_with(None)
        return asked

    def _paste(self, text: str) -> None:
        if len(text) > LONGEST_PASTE:
            self._tell(
                f"not taken: what you pasted is longer than {LONGEST_PASTE:,} characters; "
                "save it as a file in this folder and mention it with @file:",
                "yellow",
            )
            return
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self._taking is _Taking.ANSWER:
            self._answer.insert_text(text.replace("\n", " "))
        else:
            self.draft.insert_text(text)


def _input() -> Input:
    terminal = create_input()
    if sys.platform != "win32":
        from prompt_toolkit.input.vt100 import Vt100Input  # refuses to be imported on Windows

        if isinstance(terminal, Vt100Input):
            terminal.stdin_reader = LimitedReader(terminal.fileno(), sys.stdin.encoding)
    return terminal


def _output() -> "Vt100_Output | None":
    """Without asking the terminal where its cursor is: some never answer, and ours need not know."""
    if sys.platform == "win32":
        return None

    def size() -> Size:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
        return Size(rows=rows or 24, columns=columns or 80)

    return Vt100_Output(sys.stdout, size, term=os.environ.get("TERM"), enable_cpr=False)
