"""The plugin in a real Neovim: it finds and starts the server, or says why not and what to do."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim, wait_for_end
from tests.editors.neovim.plugin.conftest import Start

pytestmark = pytest.mark.editor

FAKE = Path(__file__).with_name("fake_server.py")
COMMAND = """
    local command, argument = ...
    local requests = require('tark.server.requests')
    vim.g.answer = nil
    require('tark.server.lifecycle').ensure_server(0, function(problem, client)
      if problem then
        require('tark.notify').warn(problem)
        return
      end
      requests.send_command(client, command, argument, function(problem, answer)
        vim.g.answer = { problem = problem, answer = answer }
      end)
    end)
"""
# The same message is shown once within a second.
COUNT_WARNINGS = """
    vim.g.warnings = 0
    local notify = require('tark.notify')
    local warn = notify.warn
    notify.warn = function(words)
      vim.g.warnings = vim.g.warnings + 1
      warn(words)
    end
"""
LOSE_ONE = """
    local session_id, talk = next(require('tark.state').all()[1].transcripts)
    local turn = talk.turns[1]
    local update = { kind = 'notice', level = 'info', message = 'made up' }
    local params = { sessionId = session_id, turnId = turn.turnId, seq = turn.seq + 2, update = update }
    require('tark.state.updates').update_received(params, require('tark.server.clients').for_buffer().id)
    return #turn.blocks
"""
CLIENTS = """
    return vim.tbl_map(function(client)
      return client.root_dir or ''
    end, vim.lsp.get_clients({ name = 'tark' }))
"""


def write_init(folder: Path, cmd: list[str] | None, more: str = "") -> Path:
    """An init.lua. `cmd` None: the plugin must find the server."""
    own = "" if cmd is None else f"cmd = vim.json.decode([==[{json.dumps(cmd)}]==])"
    path = folder / "own_init.lua"
    path.write_text(f"vim.opt.runtimepath:prepend(vim.env.PLUGIN)\nrequire('tark').setup({{ {own} }})\n{more}\n")
    return path


def answer(neovim: Neovim, command: str, **argument: Any) -> dict[str, Any]:
    neovim.lua(COMMAND, command, argument)
    found: dict[str, Any] = neovim.until(lambda: neovim.lua("return vim.g.answer"), f"{command} answered")
    return found


def told(neovim: Neovim, words: str) -> None:
    neovim.until(lambda: words in neovim.messages(), f"the message {words!r}")
    for stack in ("stack traceback", "E5108", "Error executing", "Error in"):
        assert stack not in neovim.messages()


def turns(neovim: Neovim) -> list[dict[str, Any]]:
    code = """
        local turns = {}
        for _, known in ipairs(require('tark.state').all()) do
          for _, talk in pairs(known.transcripts) do
            for _, turn in ipairs(talk.turns) do
              table.insert(turns, { state = turn.state, error = turn.error, blocks = #turn.blocks })
            end
          end
        end
        return turns
    """
    return list(neovim.lua(code))


def test_a_command_is_answered_and_updates_come(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start()
    neovim.open(workspace / "a.py")
    assert "turnId" in answer(neovim, "tark.turn.start", prompt="hello")["answer"]
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["ended"], "the turn ended")
    assert turns(neovim)[0]["blocks"] == 1
    assert "there is no turn 'none'" in answer(neovim, "tark.turn.undo", turnId="none")["problem"]
    assert "does not know tark.nothing" in answer(neovim, "tark.nothing")["problem"]
    assert neovim.lua("return require('tark.state').all()[1].settings.mode") == "build", "it was asked how things stand"
    assert neovim.lua(LOSE_ONE) == 2, "an update that comes after one that was lost"
    neovim.until(lambda: turns(neovim)[0]["blocks"] == 1, "what is stored of the session")


PROGRAMS = {
    "nothing there": (["/nowhere/tark-lsp"], "is /nowhere/tark-lsp, which is not a program that can be run"),
    "dies": (
        [sys.executable, str(FAKE), "dies"],
        "ended while it started: exit code 1: ModuleNotFoundError: No module named 'tark_lsp'",
    ),
    "echoes": (["cat"], "/cat is not a language server"),
    "ends": (["true"], "ended while it started: exit code 0"),
    "garbage": ([sys.executable, str(FAKE), "garbage"], "ended while it started: exit code 3"),
    "another server": (
        [sys.executable, str(FAKE), "none"],
        'fake-server 9.9 is not a tark-lsp: see cmd of require("tark").setup',
    ),
    "newer": ([sys.executable, str(FAKE), "2"], "fake-server 9.9 is too new for this plugin: run `tark-lsp install"),
    "older": ([sys.executable, str(FAKE), "0"], "fake-server 9.9 is too old for this plugin: update it"),
}


def test_other_programs(start: Start, workspace: Path) -> None:
    """One after the other. Each leads to one message, although the file and the command both try to start it."""
    (workspace / "a.py").write_text("a = 1\n")
    (workspace / "b.py").write_text("b = 1\n")
    neovim = start()
    for cmd, words in PROGRAMS.values():
        neovim.lua("require('tark').setup({ cmd = ... }) vim.cmd('messages clear | edit! b.py | edit! a.py')", cmd)
        neovim.lua(COMMAND, "tark.turn.start", {"prompt": "hello"})
        told(neovim, words)
        neovim.lua("vim.lsp.stop_client(vim.lsp.get_clients())")
        neovim.until(lambda: not neovim.lua("return #vim.lsp.get_clients()"), "the program ended")
        assert neovim.messages().count(words) == 1


def test_a_program_that_may_not_be_run(start: Start, workspace: Path, tmp_path: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    program = tmp_path / "tark-lsp"
    program.write_text("#!/bin/sh\n")
    neovim = start(init=write_init(tmp_path, [str(program)]))
    neovim.lua(COUNT_WARNINGS)
    neovim.lua("vim.cmd.edit('a.py')")
    neovim.lua(COMMAND, "tark.turn.start", {"prompt": "hello"})
    told(neovim, "which is not a program that can be run")
    assert neovim.lua("return vim.g.warnings") == 1, "a file says nothing: there may be no server on purpose"
    program.chmod(0o755)
    neovim.lua(COMMAND, "tark.turn.start", {"prompt": "hello"})
    told(neovim, "the server ended while it started: exit code 0")


def test_no_server_at_all(start: Start, workspace: Path, tmp_path: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start(init=write_init(tmp_path, None, "vim.env.PATH = '/nowhere'"))
    neovim.lua("vim.cmd.edit('a.py')")
    neovim.lua(COMMAND, "tark.turn.start", {"prompt": "hello"})
    told(neovim, "no tark-lsp was found (:checkhealth tark)")


def test_nothing_of_a_workspace_is_run(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Lua's own `require` also looks in the working directory."""
    own = workspace / "lua" / "tark" / "installed.lua"
    for note in (workspace / "tark" / "installed.lua", own):
        note.parent.mkdir(parents=True)
        note.write_text("vim.g.run_by_repository = true\nreturn { cmd = { 'sh' } }\n")
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start(init=write_init(tmp_path, None, "vim.env.PATH = '/nowhere'\nvim.opt.runtimepath:append('.')"))
    neovim.lua("vim.cmd.edit('a.py')")
    neovim.lua(COMMAND, "tark.turn.start", {"prompt": "hello"})
    told(neovim, "no tark-lsp was found (:checkhealth tark)")
    assert not neovim.lua("return vim.g.run_by_repository or false")


def test_a_program_of_the_workspace_is_not_run(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Not from a relative folder of PATH, not from one in the workspace, and not by a link that leads there."""
    (workspace / "a.py").write_text("a = 1\n")
    mark = tmp_path / "run_by_repository"
    for folder in (".", "bin", "node_modules/.bin"):
        add_program(workspace / folder / "tark-lsp", f"touch {mark}")
    linked, own = tmp_path / "linked", tmp_path / "own" / "tark-lsp"
    linked.symlink_to(workspace / "bin")
    path = f".::bin:node_modules/.bin:~/bin:{workspace}/bin/:{tmp_path}/own/../workspace/bin:{linked}"
    neovim = start(init=write_init(tmp_path, None, f"vim.env.PATH = {f'{path}:{own.parent}:/usr/bin:/bin'!r}"))

    def refused(words: str) -> None:
        neovim.lua("vim.cmd('messages clear')")
        neovim.lua(COMMAND, "tark.state", {})
        told(neovim, words)
        assert not neovim.lua("return #vim.lsp.get_clients()")

    neovim.lua("vim.cmd.edit('a.py')")
    refused(f"no tark-lsp was found except {workspace}/bin/tark-lsp, which is part of the workspace")
    for cmd, words in (
        ("tark-lsp", f"is tark-lsp, found only as {workspace}/bin/tark-lsp, which is part of the workspace"),
        ("bin/tark-lsp", "is bin/tark-lsp, a relative path"),
        ("./tark-lsp", "is ./tark-lsp, a relative path"),
    ):
        neovim.lua("require('tark').setup({ cmd = { ... } })", cmd)
        refused(f"cmd of require('tark').setup {words}")
        neovim.lua("require('tark').setup({ cmd = nil }) vim.lsp.config('tark', { cmd = { ... } })", cmd)
        refused(f"cmd of vim.lsp.config('tark') {words}")
        neovim.lua("vim.lsp.config('tark', { cmd = require('tark.server.process').start })")
    neovim.lua("vim.cmd('checkhealth tark')")
    assert f"no tark-lsp was found except {workspace}/bin/tark-lsp" in "\n".join(neovim.lines)
    assert not mark.exists()

    neovim.lua("vim.cmd.bwipeout()")
    add_program(own, f'exec {sys.executable} -m tark_lsp "$@"')
    assert answer(neovim, "tark.state")["answer"]
    assert neovim.lua(CLIENTS) == [str(workspace)]
    assert not mark.exists()


def test_an_absolute_cmd_is_the_users_decision(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Even if the program is part of the workspace."""
    (workspace / "a.py").write_text("a = 1\n")
    program = workspace / ".venv" / "bin" / "tark-lsp"
    add_program(program, f'exec {sys.executable} -m tark_lsp "$@"')
    neovim = start(init=write_init(tmp_path, [str(program)]))
    neovim.open(workspace / "a.py")
    assert neovim.lua(CLIENTS) == [str(workspace)]


def add_program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_one_server_for_each_workspace(start: Start, workspace: Path, tmp_path: Path) -> None:
    """`vim.lsp.enable` and the plugin both start it. A buffer without a name uses the server of the previous file."""
    other = tmp_path / "other"
    for folder in (workspace / "deep", other):
        folder.mkdir()
        (folder / "b.py").write_text("b = 1\n")
    (workspace / "a.py").write_text("a = 1\n")
    (other / ".git").mkdir()
    own = "{ root_markers = { '.project', '.git' }, filetypes = { 'python' } }"
    command = [sys.executable, "-m", "tark_lsp"]
    neovim = start(init=write_init(tmp_path, command, f"vim.lsp.config('tark', {own}); vim.lsp.enable('tark')"))
    for path in (workspace / "a.py", workspace / "deep" / "b.py"):
        neovim.open(path)
    assert neovim.lua(CLIENTS) == [str(workspace)]
    neovim.open(other / "b.py")
    assert sorted(neovim.lua(CLIENTS)) == [str(other), str(workspace)]
    root = "return (require('tark.server.clients').for_buffer() or {}).root_dir"
    for window, expected in (("new", other), ("copen", other), (f"edit {workspace / 'a.py'}", workspace)):
        neovim.lua(f"vim.cmd('{window}')")
        assert neovim.lua(root) == str(expected)
    (workspace / "c.txt").write_text("c\n")
    neovim.lua("vim.cmd.edit('c.txt')")
    neovim.until(lambda: neovim.lua("return vim.bo.filetype") == "text", "the file type")
    assert not neovim.lua("return #vim.lsp.get_clients({ bufnr = 0 })"), "the person's filetypes count"
    answer(neovim, "tark.state")
    assert len(neovim.lua(CLIENTS)) == 2
    assert neovim.messages().strip() in ("", "Tark: starting the server…")


def test_a_file_that_the_person_wants_no_server_for(start: Start, workspace: Path, tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (workspace / name).write_text("a = 1\n")
    root_dir = """function(bufnr, on_dir)
      local path = vim.api.nvim_buf_get_name(bufnr)
      if not path:find('b.py', 1, true) then
        vim.schedule(function() on_dir(vim.fs.dirname(path)) end)
      end
    end"""
    own = f"vim.lsp.config('tark', {{ root_dir = {root_dir} }})"
    neovim = start(init=write_init(tmp_path, [sys.executable, "-m", "tark_lsp"], own))
    neovim.open(workspace / "a.py")
    neovim.lua("vim.cmd.edit('b.py')")
    neovim.keys(":Tark keep these words<CR>")
    told(neovim, "starts no server for this file. Your prompt is kept for :Tark")
    assert neovim.lua(CLIENTS) == [str(workspace)]


def test_a_buffer_without_a_name_in_the_working_directory(start: Start, workspace: Path) -> None:
    neovim = start()
    answer(neovim, "tark.state")
    assert neovim.lua(CLIENTS) == [str(workspace)]


def test_the_home_folder_is_no_workspace(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    neovim = start()
    (home / ".git").mkdir()
    (home / "notes").mkdir()
    for name in ("a.py", "notes/b.py"):
        (home / name).write_text("a = 1\n")
    neovim.open(home / "a.py")
    assert neovim.lua(CLIENTS) == [""]
    neovim.open(home / "notes" / "b.py")
    assert sorted(neovim.lua(CLIENTS)) == ["", str(home / "notes")]


def test_quitting_while_it_starts(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start()
    neovim.lua("vim.cmd.edit('a.py')")
    server = neovim.until(neovim.find_server, "the server's process")
    neovim.close()
    assert server is not None
    wait_for_end(server)
