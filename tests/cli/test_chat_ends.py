"""The chat ends if its terminal goes away, whatever it does at that moment."""

import fcntl
import os
import pty
import struct
import termios
from pathlib import Path

import pytest
from pexpect import fdpexpect

from tests import forked
from tests.cli.chat_terminal import ENTER, READY
from tests.cli.terminal import SECONDS, configure, environment

pytestmark = pytest.mark.slow

SCENARIO = """\
wire = "anthropic-messages"

[[reply]]
text = "one two three four five six seven eight nine ten"
chunk = 1
delay_ms = 20
"""


def test_it_ends_if_nothing_can_be_drawn_any_more(tmp_path: Path) -> None:
    """Its keys come from another terminal, which stays, so no signal and no end of the input tells it."""
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    configure(tmp_path, f'model = "scripted/m"\n[providers.scripted]\nscenario = "{scenario}"\n')
    (keys, their_keys), (screen, their_screen) = pty.openpty(), pty.openpty()
    for end in (keys, screen):
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    program = forked.Program(["chat"], tmp_path, environment(tmp_path), [their_keys, their_screen, their_screen])
    for end in (their_keys, their_screen):
        os.close(end)
    shown = fdpexpect.fdspawn(screen, timeout=SECONDS)
    shown.expect_exact(READY.encode())
    os.write(keys, f"count{ENTER}".encode())
    shown.expect_exact(b"three")
    shown.close()
    program.wait(20)
    os.close(keys)
