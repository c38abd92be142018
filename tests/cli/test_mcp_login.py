"""`tark-lsp mcp login` as a user runs it: what is shown before a page is opened, and where the tokens are then."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.cli.terminal import Terminal, configure, environment
from tests.mcp.file_keyring import VARIABLE
from tests.mcp.oauth_server import OAuthServer
from tests.mcp.servers import ROOT

pytestmark = pytest.mark.slow  # each test starts programs

BROWSER = """\
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as page:
    open({log!r}, "a").write(sys.argv[1] + "\\n")
"""


class Home:
    """A user with a keyring, a browser that agrees, and a server in config.toml."""

    def __init__(self, folder: Path, url: str, more: str = "") -> None:
        self.folder = folder
        self.keyring, self.opened = folder / "keyring.json", folder / "opened"
        configure(folder, f'[mcp.servers.notes]\nurl = "{url}"\n{more}')
        browser = folder / "browser.py"
        browser.write_text(BROWSER.format(log=str(self.opened)))
        settings = folder / "config" / "python_keyring" / "keyringrc.cfg"  # of the keyring library
        settings.parent.mkdir()
        settings.write_text(f"[backend]\ndefault-keyring=tests.mcp.file_keyring.FileKeyring\nkeyring-path={ROOT}\n")
        own = {"TARK_KEYRING": "on", VARIABLE: str(self.keyring), "BROWSER": f"{sys.executable} {browser} %s"}
        self.environ = environment(folder, **own)

    def run(self, *arguments: str, **environ: str) -> tuple[int, str]:
        done = forked.run(["mcp", *arguments], self.folder, {**self.environ, **environ})
        return done.returncode, (done.stdout + done.stderr).decode()

    def terminal(self, *arguments: str, **environ: str) -> Terminal:
        return Terminal(("mcp", *arguments), self.folder, {**self.environ, **environ})

    def state(self) -> str:
        (row,) = map(json.loads, self.run("list", "--json")[1].splitlines())
        return str(row["state"])


def story(home: Home) -> None:
    terminal = home.terminal("approve", "notes")
    terminal.see("Connect to it, to see its tools? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    assert terminal.end() == 1
    assert "it needs a login" in terminal.plain
    assert "run `tark-lsp mcp login notes` in a terminal" in " ".join(terminal.plain.split())

    terminal = home.terminal("login", "notes")
    terminal.see("Connect to it? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    terminal.see("Open it in your browser? [y]es, [n]o, then Enter: ")
    assert not home.opened.exists()
    terminal.type("n")
    assert terminal.end() == 1
    assert "cancelled: nothing was stored" in terminal.plain
    assert not home.opened.exists()
    assert not home.keyring.exists()

    terminal = home.terminal("login", "notes")
    terminal.see("Connect to it? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    terminal.see("Open it in your browser? [y]es, [n]o, then Enter: ")
    shown = "".join(terminal.plain.split())
    terminal.type("y")
    assert terminal.end() == 0
    assert "next: tark-lsp mcp approve notes" in terminal.plain
    assert home.opened.read_text().strip() in shown  # the page was shown whole
    assert "acce55-1" in home.keyring.read_text()
    assert "acce55" not in terminal.plain

    terminal = home.terminal("approve", "notes")
    terminal.see("Connect to it, to see its tools? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    terminal.see("Approve this tool, exactly as it is shown? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    assert terminal.end() == 0
    assert home.run("test", "notes", "add", "{}")[1].splitlines()[-1] == "3"
    assert home.state() == "approved"

    code, text = home.run("logout", "notes")
    assert (code, text.splitlines()[0]) == (0, "logged out: notes; the tokens were deleted from the keyring")
    assert home.keyring.read_text() == "{}"
    assert home.state() == "needs login"
    assert home.run("logout", "notes") == (1, "nothing is stored for notes\n")


async def test_logging_in_and_out(tmp_path: Path) -> None:
    async with OAuthServer() as site:
        await asyncio.to_thread(story, Home(tmp_path, site.url))


def refusals(home: Home) -> None:
    terminal = home.terminal("login", "notes", TARK_KEYRING="off")
    assert terminal.end() == 1
    assert "has no keyring, or it is turned off" in " ".join(terminal.plain.split())
    terminal = home.terminal("login", "notes", BROWSER="true %s")  # opens nothing
    terminal.see("Connect to it? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    terminal.see("Open it in your browser? [y]es, [n]o, then Enter: ")
    terminal.type("y")
    terminal.see("Ctrl-C cancels")
    terminal.press_ctrl_c()
    assert terminal.end() == 1
    assert "cancelled" in terminal.plain
    for key in ("\x03", "\x04"):  # Ctrl-C, Ctrl-D
        terminal = home.terminal("login", "notes", "--client-id", "mine", "--client-secret")
        terminal.see("Connect to it? [y]es, [n]o, then Enter: ")
        terminal.type("y")
        terminal.see("the secret of your client (it is not shown): ")
        terminal.press(key)
        assert terminal.end() == 1
        assert "cancelled: nothing was stored" in terminal.plain
    assert "this is not a terminal" in home.run("login", "notes")[1]
    assert not home.keyring.exists()


async def test_logins_that_are_not_possible(tmp_path: Path) -> None:
    async with OAuthServer() as site:
        await asyncio.to_thread(refusals, Home(tmp_path, site.url))
