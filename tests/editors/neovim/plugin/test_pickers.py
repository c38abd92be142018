"""Sessions, models, modes and logins, chosen from lists of `vim.ui.select`, or by name."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_commands import SCENARIO, SHAPES
from tests.editors.neovim.plugin.turns import ended, told, unhurt
from tests.editors.pool import write_settings
from tests.llm.keys.loopback_github import CLIENT_ID, PENDING, USER_CODE, LoopbackGitHub
from tests.loopback import Loopback, Raw

pytestmark = pytest.mark.editor

CONFIG = """
[providers.copilot]
clientId = "{client}"
loginUrl = "{page}"
[providers.own]
wire = "openai-chat"
baseUrl = "{url}/v1"
[providers.own.models.big]
contextWindow = 200000
price = {{ input = 1.5, output = 3 }}
"""
KEEP_LISTS = """
    local inputlist = vim.fn.inputlist
    vim.fn.inputlist = function(choices)
      vim.g.listed = choices
      return inputlist(choices)
    end
"""
CURRENT = """
    local known = require('tark.state').all()[1]
    local session = known.sessions[known.session_id] or {}
    return { id = known.session_id or '', title = session.title, mode = session.mode, model = session.model }
"""


@pytest.fixture
def login_page() -> Iterator[str]:
    """The URL of a login page on which nobody ever logs in."""
    loop, started, ends = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with LoopbackGitHub([PENDING] * 1000, interval=1.0) as github:
            urls.append(github.url)
            started.set()
            await ends.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    started.wait()
    yield urls[0]
    loop.call_soon_threadsafe(ends.set)
    thread.join()
    loop.close()


@pytest.fixture
def neovim(start: Start, workspace: Path, tmp_path: Path, login_page: str) -> Iterator[Neovim]:
    """With a provider `own` that has two models."""
    (workspace / "shapes.py").write_text(SHAPES)
    write_settings(tmp_path / "home", SCENARIO)
    with Loopback([Raw()], models=["small", "big"]).in_thread() as provider:
        with (tmp_path / "home/config/tark/config.toml").open("a") as config:
            config.write(CONFIG.format(client=CLIENT_ID, page=login_page, url=provider.url))
        editor = start(SCENARIO)
        editor.open(workspace / "shapes.py")
        editor.lua(KEEP_LISTS)
        yield editor


def current(neovim: Neovim) -> dict[str, str]:
    return dict(neovim.lua(CURRENT))


def listed(neovim: Neovim) -> list[str]:
    """The last list from which something was chosen."""
    return list(neovim.lua("return vim.g.listed"))


def begin(neovim: Neovim, prompt: str, number: int) -> str:
    """Runs a turn in a new session. Returns the session's id."""
    neovim.keys(":TarkSessions new<CR>")
    neovim.until(lambda: current(neovim)["id"] == "", "no session is the current one")
    neovim.keys(f"<Esc>:Tark {prompt}<CR>")
    ended(neovim, number)
    return neovim.until(lambda: current(neovim)["id"], "a session was begun")


def test_sessions(neovim: Neovim) -> None:
    first = begin(neovim, "say one", 1)
    second = begin(neovim, "say two", 2)
    neovim.keys("<Esc>:TarkSessions<CR>")
    neovim.choose(3)
    _, new, newer, older = listed(neovim)
    assert new == "1: A new session"
    assert newer.startswith("2: say two · current · now · 1 turn · scripted/editors")
    assert older.startswith("3: say one · now")
    neovim.until(lambda: current(neovim)["id"] == first, "the first goes on")

    neovim.keys("<Esc>:TarkSessions rename<CR>")
    neovim.choose(2)
    neovim.until(lambda: neovim.asks, "it asks for a title")
    neovim.keys("<C-u>Old friend<CR>")
    told(neovim, "the title of the session is Old friend")
    neovim.until(lambda: current(neovim)["title"] == "Old friend", "the title is known")

    neovim.keys("<Esc>:TarkSessions fork<CR>")
    neovim.choose(1)
    fork = neovim.until(
        lambda: current(neovim)["id"] not in (first, second) and current(neovim)["id"], "the fork goes on"
    )
    neovim.keys("<Esc>:TarkSessions delete<CR>")
    neovim.choose(1)
    neovim.choose(1)  # keep it
    assert current(neovim)["id"] == fork
    neovim.keys("<Esc>:TarkSessions delete<CR>")
    neovim.choose(1)
    neovim.choose(2)
    neovim.until(lambda: current(neovim)["id"] == "", "it is gone")
    neovim.keys("<Esc>:TarkSessions export<CR>")
    neovim.choose(1)
    told(neovim, "exported to ")
    neovim.keys("<Esc>:TarkSessions burn<CR>")
    told(neovim, "burn is not an action for sessions")
    unhurt(neovim)


def test_model_and_mode(neovim: Neovim) -> None:
    begin(neovim, "say one", 1)
    neovim.keys("<Esc>:TarkMode p<Tab><CR>")
    told(neovim, "mode of this session is plan")
    neovim.until(lambda: current(neovim)["mode"] == "plan", "the mode is known")
    neovim.keys(":TarkMode<CR>")
    neovim.choose(1)
    neovim.until(lambda: current(neovim)["mode"] == "ask", "the mode is known")
    neovim.keys(":TarkMode manual<CR>")
    told(neovim, "approval of this session is manual")
    neovim.keys(":TarkMode! plan<CR>")
    told(neovim, "mode of new sessions is plan")
    assert current(neovim)["mode"] == "ask"
    neovim.keys(":TarkMode anything<CR>")
    told(neovim, "anything is not a mode")
    neovim.keys(":TarkModel scripted/another<CR>")
    neovim.until(lambda: current(neovim)["model"] == "scripted/another", "the model is known")
    neovim.keys(":TarkModel nonsense<CR>")
    told(neovim, "model: ")
    neovim.keys(":TarkModel nobody/big<CR>")
    told(neovim, "model: there is no provider 'nobody'")
    neovim.keys(":TarkModel opeanai/big<CR>")
    told(neovim, "model: there is no provider 'opeanai', did you mean openai?")
    assert current(neovim)["model"] == "scripted/another"
    neovim.keys(":TarkModel own/bigg<CR>")
    neovim.choose(2)
    assert listed(neovim) == ["own/bigg is not listed. Model:", "1: own/big", "2: use own/bigg anyway"]
    neovim.until(lambda: current(neovim)["model"] == "own/bigg", "it is used")
    neovim.keys(":TarkModel own/bigg<CR>")
    neovim.choose(1)
    neovim.until(lambda: current(neovim)["model"] == "own/big", "the listed one is used")
    neovim.keys(":TarkModel anthropic/claude<CR>")
    told(neovim, "claude is not checked, since anthropic does not list its models: ")
    neovim.until(lambda: current(neovim)["model"] == "anthropic/claude", "it is accepted")
    assert "is not checked" in neovim.messages().splitlines()[-1], "the last message is the one on the screen"
    neovim.keys(":TarkModel own/big<CR>")
    neovim.until(lambda: current(neovim)["model"] == "own/big", "it is set")
    neovim.keys(":TarkModel<CR>")
    neovim.until(lambda: neovim.asks, "the models are listed")
    neovim.choose(2)
    told(neovim, "model of this session is own/big")
    assert "2: own/big · big · current · 200k window · $1.5 in, $3 out for 1M tokens" in listed(neovim)
    assert neovim.lua("return vim.fn.getcompletion('TarkModel big', 'cmdline')") == ["own/big"]
    unhurt(neovim)


def test_login(neovim: Neovim, login_page: str) -> None:
    neovim.keys(":TarkLogin anthropic<CR>")
    told(neovim, "tark-lsp login anthropic")
    neovim.keys(":TarkLogin copilot<CR>")
    neovim.until(lambda: neovim.asks, "code and page are shown")
    assert listed(neovim)[0] == f"Log in to copilot: type {USER_CODE} on {login_page}/login/device"
    neovim.choose(3)
    neovim.choose(1)
    neovim.until(lambda: not neovim.asks, "nothing is asked any more")
    assert neovim.lua("return vim.fn.getreg('\"')") == USER_CODE
    neovim.keys(":TarkLogin<CR>")
    providers = neovim.until(lambda: neovim.asks, "the providers are listed")
    assert providers
    neovim.keys("<Esc>")
    neovim.until(lambda: not neovim.asks, "nothing is asked any more")
    assert "copilot" in neovim.lua("return vim.fn.getcompletion('TarkLogin cop', 'cmdline')")
    unhurt(neovim)


def test_named_prompts_are_completed(neovim: Neovim, workspace: Path) -> None:
    (workspace / ".tark/prompts").mkdir(parents=True)
    (workspace / ".tark/prompts/review.md").write_text("Review this: $ARGUMENTS\n")
    neovim.lua("require('tark.state.connection').refresh(require('tark.state').all()[1])")
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    neovim.until(lambda: neovim.lua(complete, "Tark /rev") == ["/review"], "the prompt is known")
    assert neovim.lua(complete, "Tark /te") == ["/test"]
    assert neovim.lua(complete, "Tark say /te") == []
    neovim.keys(":Tark<CR>")
    neovim.until(lambda: neovim.asks, "it asks for words")
    neovim.keys("/rev<Tab> the names<CR>")
    turn = ended(neovim, 1)
    assert (turn["prompt"], turn["kind"]) == ("/review the names", "review")
