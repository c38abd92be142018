"""A server that is killed: its turns end, the user gets one message, and the next server continues."""

from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim, wait_for_end
from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.killing import ENDED, attached, kill, kill_for_good
from tests.editors.neovim.plugin.test_server import CLIENTS, answer, told, turns

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).with_name("death.toml")
LISTEN = """
    vim.g.events = {}
    require('tark.state').on('server', function(_, event)
      vim.g.events = vim.list_extend(vim.g.events, { event })
    end)
"""
WAIT = """
    local clients, requests = require('tark.server.clients'), require('tark.server.requests')
    requests.send_command(clients.for_buffer(), 'tark.turn.wait', ..., function(problem)
      vim.g.waited = problem
    end)
"""
STATE = "require('tark.state').all()[1]"


def hunks(neovim: Neovim) -> list[int]:
    code = f"return vim.tbl_map(function(d) return #d.hunks end, vim.tbl_values({STATE}.hunks))"
    return list(neovim.lua(code))


def test_a_server_that_is_killed_in_the_middle_of_a_turn(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("one\ntwo\n")
    neovim = start(scenario=SCENARIO)
    neovim.open(workspace / "a.py")
    neovim.lua(LISTEN)
    session = answer(neovim, "tark.turn.start", prompt="talk slowly")["answer"]["sessionId"]
    neovim.until(lambda: turns(neovim) and turns(neovim)[0]["blocks"], "the model talks")
    neovim.lua(WAIT, {"turnId": answer(neovim, "tark.state")["answer"]["turns"][0]["turnId"]})
    neovim.keys("ofoo")
    kill(neovim)
    told(neovim, f"Tark: {ENDED}, 1 turn was interrupted; restarting it")
    assert "quit with exit code" not in neovim.messages(), "Neovim would say it, too"
    (turn,) = turns(neovim)
    assert (turn["state"], turn["error"]["code"]) == ("ended", "interrupted")
    assert neovim.lua("return vim.g.waited") == "the server has ended"
    assert neovim.lua("return vim.g.events") == ["ended", "started"]
    neovim.keys("bar<Esc>")
    neovim.until(lambda: neovim.lines == ["one", "foobar", "two"], "what was typed")
    answer(neovim, "tark.turn.start", prompt="go on", sessionId=session)
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["ended"] * 2, "the session goes on")


def test_hunks_come_back(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("one\ntwo\n")
    neovim = start(scenario=SCENARIO)
    neovim.open(workspace / "a.py")
    answer(neovim, "tark.turn.start", prompt="rewrite the area in a.py")
    neovim.until(lambda: hunks(neovim) == [1], "a hunk")
    waiting = f"return #{STATE}.permissions"
    neovim.until(lambda: neovim.lua(waiting) == 1, "a question")
    kill(neovim)
    neovim.until(lambda: neovim.lua(waiting) == 0, "the question is gone")
    neovim.until(lambda: hunks(neovim) == [1], "the hunk again")
    assert neovim.lua("return #require('tark.state').all()[1].hunks[vim.uri_from_bufnr(0)].hunks") == 1
    call = f"return (vim.tbl_values({STATE}.transcripts)[1].turns[1].blocks[2] or {{}}).status"
    neovim.until(lambda: neovim.lua(call) == "completed", "its call is not cancelled: it waits")


def test_a_server_that_does_not_stay_is_left_alone(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("one\ntwo\n")
    neovim = start(scenario=SCENARIO)
    neovim.open(workspace / "a.py")
    kill_for_good(neovim)
    assert neovim.find_server() is None
    assert neovim.lua(CLIENTS) == []
    neovim.lua("require('tark.commands.restart').restart()")
    told(neovim, "the server is started")
    attached(neovim)
    first = neovim.server_process()
    neovim.lua("require('tark.commands.restart').restart()")
    told(neovim, "the server was restarted")
    attached(neovim)
    assert first.pid != neovim.server_process().pid
    assert neovim.lua("return #require('tark.state').all()") == 1


def test_quitting_is_silent(start: Start, workspace: Path) -> None:
    """The server gets `shutdown`, and is not started again."""
    (workspace / "a.py").write_text("one\ntwo\n")
    neovim = start(scenario=SCENARIO)
    neovim.open(workspace / "a.py")
    answer(neovim, "tark.turn.start", prompt="talk slowly")
    log = workspace / "messages.txt"
    neovim.lua(
        "local path = ... vim.api.nvim_create_autocmd('VimLeave', { callback = function()"
        " vim.wait(10000, function() return #vim.lsp.get_clients() == 0 end)"
        " vim.fn.writefile(vim.split(vim.fn.execute('messages'), '\\n'), path) end })",
        str(log),
    )
    server = neovim.server_process()
    neovim.close()
    wait_for_end(server)
    assert "Tark" not in log.read_text().replace("Tark: starting the server…", "")


def test_a_client_that_the_person_stops_stays_stopped(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("one\ntwo\n")
    neovim = start(scenario=SCENARIO)
    neovim.open(workspace / "a.py")
    neovim.lua("vim.lsp.stop_client(vim.lsp.get_clients())")
    neovim.until(lambda: not neovim.lua(f"return {STATE}.alive"), "the server ended")
    assert neovim.find_server() is None
    assert not neovim.messages()
    assert "turns" in answer(neovim, "tark.state")["answer"], "a command starts it again"
