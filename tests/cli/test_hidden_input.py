"""What a user types at the question for a secret: never shown, ended by Enter, Ctrl-C or Ctrl-D."""

import os
import pty
import sys
import termios
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tark_lsp.cli.hidden_input import ask_hidden
from tark_lsp.errors import SettingsError

SECONDS = 10
QUESTION = "the key (it is not shown): "


class HiddenQuestion:
    """`ask_hidden` on a terminal that is not the test's own: no key is a signal here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.person, self.terminal = pty.openpty()
        os.write(self.person, b"typed before\n")
        self.before = termios.tcgetattr(self.terminal)
        self._read_echo(b"typed before\r\n")
        monkeypatch.setattr(sys, "stdin", os.fdopen(self.terminal, "r", closefd=False))
        monkeypatch.setattr(sys, "stderr", os.fdopen(self.terminal, "w", closefd=False))
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[str] = self._pool.submit(ask_hidden, QUESTION, hint="pass it on stdin")
        self.shown = self._read_echo(QUESTION.encode())

    def _read_echo(self, end: bytes) -> bytes:
        shown = b""
        while not shown.endswith(end):
            shown += os.read(self.person, 4096)
        return shown

    def type(self, keys: bytes) -> None:
        os.write(self.person, keys)

    def answer(self) -> str:
        try:
            return self._answer.result(SECONDS)
        finally:
            self._pool.shutdown()
            assert termios.tcgetattr(self.terminal) == self.before
            os.write(self.terminal, b"end")
            assert self.shown + self._read_echo(b"end") == QUESTION.encode() + b"\r\nend"

    def close(self) -> None:
        os.close(self.person)
        os.close(self.terminal)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], HiddenQuestion]]:
    """Asks in the test itself: between a fixture and its test, pytest replaces the streams."""
    with ExitStack() as open_questions:
        yield lambda: open_questions.enter_context(closing(HiddenQuestion(monkeypatch)))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (b"sk-secret\n", "sk-secret"),
        (b"sk-secret\r", "sk-secret"),
        (b"\n", ""),
        (b"wrong\x15sk-sx\x7fecret\n", "sk-secret"),  # Ctrl-U, Backspace
        (b"sk-\x04secret\n", "sk-secret"),  # Ctrl-D ends the input only if nothing was typed
        (b"sk-\x1a\x1csecret\n", "sk-\x1a\x1csecret"),  # Ctrl-Z and Ctrl-\ are no signals
        ("schlüssel\n".encode(), "schlüssel"),
        (b"\xff\n", "\ufffd"),
        (b"first\nsecond\n", "first"),
    ],
)
def test_a_line(ask: Callable[[], HiddenQuestion], typed: bytes, answer: str) -> None:
    question = ask()
    question.type(typed)
    assert question.answer() == answer


@pytest.mark.parametrize("typed", [b"\x03", b"sk-sec\x03", b"sk-\x04sec\x03"])
def test_ctrl_c_is_a_key(ask: Callable[[], HiddenQuestion], typed: bytes) -> None:
    question = ask()
    question.type(typed)
    with pytest.raises(KeyboardInterrupt):
        question.answer()


def test_ctrl_d(ask: Callable[[], HiddenQuestion]) -> None:
    question = ask()
    question.type(b"\x04")
    with pytest.raises(EOFError):
        question.answer()


def test_input_that_is_not_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-secret\n")
    with (tmp_path / "key").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(SettingsError, match="would show what you type") as raised:
            ask_hidden(QUESTION, hint="pass it on stdin")
    assert raised.value.hint == "pass it on stdin"
