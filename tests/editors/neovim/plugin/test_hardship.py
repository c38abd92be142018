"""What a user sees when things go wrong: no server, an old one, one that is killed."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.editors.neovim.plugin.conftest import PLUGIN
from tests.editors.neovim.plugin.installed import Machine, check_messages, program, server
from tests.editors.neovim.plugin.screen import Screen

pytestmark = pytest.mark.editor

OLD_SERVER = '''
"""An old tark-lsp: a language server that does not know the plugin's protocol."""
import json, sys
if "--version" in sys.argv:
    sys.exit(print("tark-lsp 0.0.1"))
while line := sys.stdin.buffer.readline():
    length = int(line.split(b":")[1])
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(length))
    if message.get("method") == "exit":
        break
    if "id" in message:
        result = {"capabilities": {}, "serverInfo": {"name": "tark-lsp", "version": "0.0.1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
        sys.stdout.buffer.flush()
'''
NOT_FOUND, NOTHING = "no tark-lsp was found", "nothing to review"
WITHOUT_SERVER = {
    "Tark hello": NOT_FOUND,
    "TarkEdit hello": NOT_FOUND,
    "TarkAsk hello": NOT_FOUND,
    "TarkExplain briefly": NOT_FOUND,
    "TarkFix well": NOT_FOUND,
    "TarkTest both": NOT_FOUND,
    "TarkStop": "nothing is running",
    "TarkAccept": NOTHING,
    "TarkUndo": "nothing to undo",
    "TarkRedo": "nothing to redo",
    "TarkRestore": "no prompt to go back to",
    "TarkBuild": "there is no plan",
    "TarkReject!": NOTHING,
    "TarkSessions": NOT_FOUND,
    "TarkPermission": "nothing waits for you",
    "TarkPermissions": NOT_FOUND,
    "TarkModel scripted/m": NOT_FOUND,
    "TarkReview": NOT_FOUND,
    "TarkMode plan": NOT_FOUND,
    "TarkStatus": "No server runs",
    "TarkContext": "No session is open",
    "TarkLogin openai": NOT_FOUND,
    "TarkChat": "g? shows the keys",
}


def say(screen: Screen, command: str, words: str) -> None:
    """Types a command until the message is shown: the same message is shown once within a second."""
    screen.command("echo")
    screen.until(lambda: words not in screen.text, "what was told before is gone")

    def told() -> bool:
        screen.command(command)
        with suppress(AssertionError):
            screen.until(lambda: words in screen.text, words, seconds=1.5)
        return words in screen.text

    screen.until(told, f"{words} after :{command}")
    assert "Press ENTER" not in screen.text


def test_no_server_at_all(home: Machine) -> None:
    """The plugin is from a clone, and no server is installed."""
    home.init.parent.mkdir(parents=True)
    home.init.write_text(f"vim.opt.runtimepath:append('{PLUGIN}')\n")
    screen = home.neovim("shop/prices.py", env={"PATH": "/nowhere"})
    screen.see("def average")
    for command, words in WITHOUT_SERVER.items():
        say(screen, command, words)
    screen.press("Escape")  # the chat has started insert mode
    check_messages(screen)


def test_a_server_of_long_ago(home: Machine, tmp_path: Path) -> None:
    old = program(tmp_path / "bin" / "tark-lsp", OLD_SERVER)
    home.init.parent.mkdir(parents=True)
    home.init.write_text(f"vim.opt.runtimepath:append('{PLUGIN}')\n")
    screen = home.neovim("shop/prices.py", env={"PATH": f"{old.parent}:{home.env['PATH']}"})
    screen.see("tark-lsp 0.0.1", "too old")
    check_messages(screen)


def test_the_server_is_killed_in_the_middle_of_an_answer(home: Machine) -> None:
    home.install()
    screen = home.neovim("shop/prices.py")
    screen.see("def average")
    screen.command("Tark talk for long")
    screen.see("Two lines of many")
    first = server(screen)
    first.kill()
    screen.see("killed by signal 9", "1 turn was interrupted", "restarting it")
    screen.until(lambda: server(screen).pid != first.pid, "another server")
    screen.press("Enter")
    screen.see("Two lines of many")  # what was said stays
    screen.command("Tark run the tests")
    screen.see("unittest", "Tark asks")
    check_messages(screen)


def test_the_server_is_killed_while_it_asks(home: Machine) -> None:
    home.asks_before_edits()
    home.install()
    screen = home.neovim("shop/prices.py")
    screen.see("def average")
    screen.type("9GVG:TarkEdit guard against an empty basket")
    screen.press("Enter")
    screen.see("Tark asks", "if not prices:")
    server(screen).kill()
    screen.see("killed by signal 9", "restarting it")
    screen.press("Enter")
    screen.until(lambda: "Tark asks" not in screen.text, "the question was withdrawn")
    check_messages(screen)


def test_two_neovims_on_one_workspace(home: Machine) -> None:
    home.install()
    one, other = home.neovim("shop/prices.py"), home.neovim("shop/prices.py", "-n")
    one.see("def average")
    other.see("def average")
    one.command("Tark run the tests")
    one.see("Tark asks")
    other.command("TarkAsk who calls average?")
    other.see("For an empty basket")
    assert "Tark asks" not in other.text, "one is asked by one's own server"
    one.command("TarkPermission")
    one.see("a allow")
    one.answer("a")
    one.see("The tests pass.")
    for screen in (one, other):
        check_messages(screen)
        screen.command("qa")
        screen.until(lambda screen=screen: screen.has_ended, "its end")  # type: ignore[misc]  # bound at once


def test_typing_while_an_answer_streams(home: Machine) -> None:
    home.install()
    screen = home.neovim("shop/notes.txt")
    screen.command("Tark talk for long")
    screen.see("One line of many")
    screen.type("i")
    typed = "".join(f"{number} keys, typed by a person; " for number in range(1, 12))
    for start in range(0, len(typed), 3):
        screen.type(typed[start : start + 3])
    screen.escape()
    screen.see("And this is the last line of many.")
    screen.command("w")
    screen.until(lambda: (home.project / "shop" / "notes.txt").exists(), "the file")
    screen.until(lambda: (home.project / "shop" / "notes.txt").read_text() == f"{typed}\n", "what was typed")
    check_messages(screen)
