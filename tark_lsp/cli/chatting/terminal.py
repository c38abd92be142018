"""The lines at the bottom of the terminal: unfinished output, the question or the prompt, and the status."""

import asyncio
import errno
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.search import stop_search

from tark_lsp.cli.chatting.chat_screen import StyledLine
from tark_lsp.cli.chatting.key_bindings import key_bindings
from tark_lsp.cli.chatting.output_above import FrameOutput, OutputAbove
from tark_lsp.cli.chatting.paste_limit import MAX_PASTE, LimitedReader
from tark_lsp.cli.chatting.prompt_layout import STYLE, prompt_layout
from tark_lsp.cli.chatting.question_prompt import KeyTarget, QuestionPrompt
from tark_lsp.cli.visible import visible

TYPED_AHEAD_SECONDS = 0.3
"""Input within this time after the start was typed before it, when the terminal still sent a line feed (Ctrl-J) for
Enter."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TerminalCallbacks:
    """`submit(text)` receives a prompt. `interrupt()` is Ctrl-C, `leave()` Ctrl-D, `suspend()` Ctrl-Z, `edit()` Ctrl-X
    Ctrl-E, `paste_image()` Ctrl-V. `print_line(text, style)` prints above the bottom lines. `unfinished_lines(rows,
    columns)` and `status()` are drawn at the bottom.
    """

    submit: Callable[[str], None]
    interrupt: Callable[[], None]
    leave: Callable[[], None]
    suspend: Callable[[], None]
    edit: Callable[[], None]
    paste_image: Callable[[], None]
    print_line: Callable[[str, str], None]
    unfinished_lines: Callable[[int, int], list[StyledLine]]
    status: Callable[[], str]


class Terminal:
    """`draft` is the prompt being typed."""

    def __init__(
        self, output: OutputAbove, completer: Completer, history: History, callbacks: TerminalCallbacks
    ) -> None:
        self._output, self._callbacks = output, callbacks
        self.interrupt, self.leave = callbacks.interrupt, callbacks.leave
        self.suspend, self.edit, self.paste_image = callbacks.suspend, callbacks.edit, callbacks.paste_image
        self.question = QuestionPrompt(callbacks.print_line, focus=self._focus, redraw=self.redraw)
        self.typed_ahead_until = 0.0
        self.draft = Buffer(
            completer=completer,
            complete_while_typing=True,
            history=history,
            multiline=True,
        )
        self._app: Application[None] = Application(
            prompt_layout(
                self.draft,
                self.question.answer,
                question=lambda: self.question.open_question,
                note=lambda: self.question.note,
                unfinished=self._unfinished,
                status=lambda: f" {visible(callbacks.status())} ",
            ),
            STYLE,
            key_bindings=key_bindings(self),
            input=_input(),
            output=_output(),
            min_redraw_interval=0.03,
            before_render=lambda _: output.before_redraw(),
            after_render=lambda _: self._after_render(),
        )
        self._app.ttimeoutlen = 0.1
        self._app.key_processor.before_key_press += lambda _: self.question.note_key()
        output.app = self._app

    async def run(self) -> None:
        """Runs until `stop`. Raises EOFError if the terminal is gone, and the errors of callbacks of the event loop."""
        self.typed_ahead_until = time.monotonic() + TYPED_AHEAD_SECONDS
        # prompt_toolkit's own handler prints the error. If the terminal is gone, printing fails again, without end.
        asyncio.get_running_loop().set_exception_handler(partial(_end_after_error, self._app))
        await self._app.run_async(handle_sigint=False, set_exception_handler=False)

    def stop(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    def redraw(self) -> None:
        self._app.invalidate()

    def clear(self) -> None:
        self._app.renderer.clear()
        self._output.forget(cleared=True)

    def remember(self, text: str) -> None:
        """Adds a prompt to the history of the Up key."""
        self.draft.history.append_string(text)

    def give_back(self, text: str) -> None:
        """Puts a prompt that was not used back into the prompt line, unless the user has started another."""
        if not self.draft.text:
            self.draft.text = text
            self.draft.cursor_position = len(text)

    async def ask(self, question: str, keys: str = "", *, at_once: bool = False) -> str | None:
        return await self.question.ask(question, keys, at_once=at_once)

    def give_up_question(self) -> bool:
        """Ends the open question without an answer. Returns whether there was one."""
        return self.question.give_up()

    async def hand_over(self, work: Callable[[], Awaitable[T]]) -> T:
        """Lets another program use the terminal while `work` runs."""
        self._output.pause()
        try:
            async with in_terminal():
                return await work()
        finally:
            self._output.forget()
            self._output.resume()
            self._app.invalidate()

    def press_enter(self) -> None:
        state, text = self.draft.complete_state, self.draft.text
        if state is not None and state.current_completion is not None:
            self.draft.complete_state = None
        elif text.endswith("\\") and self.draft.document.is_cursor_at_the_end:
            self.draft.delete_before_cursor()
            self.draft.insert_text("\n")
        elif text.strip() and not self.question.question:  # not if a question waits: the user has not seen it
            self.draft.reset()
            self._callbacks.submit(text.strip())

    def paste(self, text: str) -> None:
        if len(text) > MAX_PASTE:
            self._callbacks.print_line(
                f"the pasted text is longer than {MAX_PASTE:,} characters, so it is ignored; "
                "save it as a file in this folder and mention it with @file:",
                "yellow",
            )
            return
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self.question.key_target is KeyTarget.ANSWER:
            self.question.answer.insert_text(text.replace("\n", " "))
        else:
            self.draft.insert_text(text)

    def _after_render(self) -> None:
        self._output.on_redraw()
        self.question.note_drawn()

    def _focus(self, answer: bool) -> None:
        if self._app.layout.is_searching:
            stop_search()
        self._app.layout.focus(self.question.answer if answer else self.draft)

    def _unfinished(self) -> StyleAndTextTuples:
        size = self._app.output.get_size()
        lines = self._callbacks.unfinished_lines(max(3, size.rows // 2), max(1, size.columns - 1))
        pieces: StyleAndTextTuples = [piece for line in lines for piece in (*line, ("", "\n"))]
        return pieces[:-1]


def _end_after_error(app: Application[None], loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An I/O error (EIO) means that the terminal is gone. Any other error is a bug in Tark, and `run` raises it."""
    error = context.get("exception")
    if error is None or not app.is_running or app.is_done:
        loop.default_exception_handler(context)
    else:
        is_gone = isinstance(error, OSError) and error.errno == errno.EIO
        app.exit(exception=EOFError() if is_gone else error)


def _input() -> Input:
    terminal = create_input()
    if sys.platform != "win32":
        from prompt_toolkit.input.vt100 import Vt100Input  # cannot be imported on Windows

        if isinstance(terminal, Vt100Input):
            terminal.stdin_reader = LimitedReader(terminal.fileno(), sys.stdin.encoding)
    return terminal


def _output() -> FrameOutput | None:
    """An output that does not ask the terminal for the cursor position: some never answer, and it is not needed."""
    if sys.platform == "win32":
        return None

    def size() -> Size:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
        return Size(rows=rows or 24, columns=columns or 80)

    depth = ColorDepth.from_env()  # NO_COLOR
    return FrameOutput(sys.stdout, size, os.environ.get("TERM"), default_color_depth=depth, enable_cpr=False)
