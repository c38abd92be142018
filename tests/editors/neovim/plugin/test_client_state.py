"""What the plugin answers to `tark/clientState`; and `tark/save`, which saves as a user does."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import INIT, Start, sharing
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.test_server import answer, turns, write_init

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).with_name("client_state.toml")
COMMAND = (sys.executable, "-m", "tark_lsp")
VERSION = "return vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]"
TEXT = 'pies = "🥧🥧"\nédge = 1\nlast\n'


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    yield from sharing(tmp_path_factory.mktemp("state"), SCENARIO, INIT)


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return resting[0]


def state(neovim: Neovim, *want: str, **more: str) -> dict[str, Any]:
    code = """
        local client = vim.lsp.get_clients({ name = 'tark' })[1]
        return require('tark.server.client_state').answer(..., client.id)
    """
    return dict(neovim.lua(code, {"want": want, **more}))


def selection(neovim: Neovim) -> Any:
    """None if nothing is selected."""
    found = state(neovim, "selection")["selection"]
    return found and (found["range"]["start"], found["range"]["end"])


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def reply(neovim: Neovim, prompt: str) -> str:
    answer(neovim, "tark.turn.start", prompt=prompt, kind="ask")
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["ended"], "the turn ended")
    code = """
        local said
        for _, talk in pairs(require('tark.state').all()[1].transcripts) do
          for _, turn in ipairs(talk.turns) do
            said = turn.prompt == ... and turn.blocks[1].text or said
          end
        end
        return said
    """
    return str(neovim.lua(code, prompt))


def test_the_selection(neovim: Neovim, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text(TEXT)
    neovim.open(path)
    assert selection(neovim) is None
    neovim.keys("ggfievl")
    assert selection(neovim) == (at(0, 3), at(0, 5)), "the one that is being made"
    neovim.keys("<Esc>gg0f🥧vj0")
    assert selection(neovim) == (at(0, 8), at(1, 2)), "it ends after a whole character"
    neovim.keys("<Esc>")
    assert selection(neovim) == (at(0, 8), at(1, 2)), "the last one"
    neovim.keys("ggVj<Esc>")
    assert selection(neovim) == (at(0, 0), at(1, 9)), "lines"
    neovim.keys("gg0<C-v>jl<Esc>")
    assert selection(neovim) == (at(0, 0), at(1, 9)), "of a block its lines"
    neovim.keys("ggVj<Esc>")
    told = state(neovim, "selection")["selection"]
    assert (told["uri"], told["version"]) == (path.as_uri(), neovim.lua(VERSION))
    neovim.lua("vim.cmd('botright new | setlocal buftype=nofile')")
    neovim.keys("ichat<Esc>V<Esc>")
    assert selection(neovim) == (at(0, 0), at(1, 9)), "of the file, while one is in another window"
    assert reply(neovim, "mention @selection") == "a.py"
    neovim.lua("vim.cmd('only')")
    assert selection(neovim) is None


def test_its_end(neovim: Neovim, folder: Path) -> None:
    """Includes combining characters of the last character, and excludes what 'selection' excludes."""
    path = folder / "a.txt"
    path.write_text("ae\u0301b\n")
    neovim.open(path)
    neovim.keys("gg0vl")
    assert selection(neovim) == (at(0, 0), at(0, 4))
    neovim.keys("<Esc>")
    assert selection(neovim) == (at(0, 0), at(0, 4))
    neovim.lua("vim.o.selection = 'exclusive'")
    neovim.keys("gg0vl")
    assert selection(neovim) == (at(0, 0), at(0, 1))
    neovim.keys("<Esc>")
    assert selection(neovim) == (at(0, 0), at(0, 1))


def test_what_is_no_utf_8(neovim: Neovim, folder: Path) -> None:
    """A prompt with such a byte is still answered. A file that was read as binary is left alone."""
    (folder / "a.txt").write_text("one\n")
    (folder / "b.bin").write_bytes(b"\xff\xfe\x80\n")
    neovim.open(folder / "a.txt")
    ask = "local client = require('tark.server.clients').for_buffer() "
    ask += "require('tark.server.requests').send_command(client, 'tark.turn.start', "
    ask += "{ prompt = 'hi \\255 there', kind = 'ask' }, function(problem) vim.g.answered = problem or 'well' end)"
    neovim.lua(ask)
    neovim.until(lambda: neovim.lua("return vim.g.answered"), "it is answered")
    assert neovim.lua("return vim.g.answered") == "well"
    neovim.keys(":edit ++bin b.bin<CR>")
    neovim.until(lambda: neovim.lua("return vim.bo.binary"), "it is open")
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["ended"], "the turn ended")
    assert neovim.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 0
    assert not neovim.asks


def test_in_utf_16(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Neovim's diagnostics are in bytes, also for a file that is not loaded."""
    (workspace / ".git").mkdir()
    (workspace / "a.py").write_text(TEXT)
    (workspace / "b.py").write_text(TEXT)
    encodings = "vim.lsp.config('tark', { capabilities = { general = { positionEncodings = { 'utf-16' } } } })"
    neovim = start(init=write_init(tmp_path, [*COMMAND], encodings), scenario=SCENARIO)
    neovim.open(workspace / "a.py")
    neovim.keys("gg0f🥧v<Esc>")
    assert selection(neovim) == (at(0, 8), at(0, 10))
    neovim.lua(
        """
        local space = vim.api.nvim_create_namespace('a linter of the person')
        for _, path in ipairs({ 'a.py', 'b.py' }) do
          vim.diagnostic.set(space, vim.fn.bufadd(vim.fn.fnamemodify(path, ':p')), {
            { lnum = 0, col = 12, end_col = 16, message = 'odd', severity = 2, source = 'lint', code = 7 },
            { lnum = 9, col = 3, message = 'past the end' },
          })
        end
        """
    )
    wanted = {
        "range": {"start": at(0, 10), "end": at(0, 12)},
        "severity": 2,
        "message": "odd",
        "source": "lint",
        "code": 7,
    }
    found = state(neovim, "diagnostics")["diagnostics"]
    assert [document["uri"] for document in found] == [(workspace / name).as_uri() for name in ("a.py", "b.py")]
    assert [document["diagnostics"][0] for document in found] == [wanted] * 2
    (only,) = state(neovim, "diagnostics", uri=(workspace / "b.py").as_uri())["diagnostics"]
    assert only["uri"] == (workspace / "b.py").as_uri()
    assert state(neovim, "diagnostics", uri=(workspace / "c.py").as_uri())["diagnostics"] == []
    assert state(neovim, "diagnostics", "else").keys() == {"diagnostics"}


def test_diagnostics_reach_the_model(neovim: Neovim, folder: Path) -> None:
    (folder / "a.py").write_text(TEXT)
    neovim.open(folder / "a.py")
    neovim.lua(
        """
        local function set(name, source)
          local space = vim.api.nvim_create_namespace(name)
          vim.diagnostic.set(space, 0, { { lnum = 1, col = 0, message = 'from ' .. source, source = source } })
        end
        set('ours', 'tark')
        set('another', 'lint')
        """
    )
    assert reply(neovim, "mention @diagnostics") == "a.py:2:1: error: from lint (lint)"


def saved(neovim: Neovim, *paths: Path) -> list[str]:
    uris = {"uris": [path.as_uri() for path in paths]}
    found: list[str] = neovim.lua("return require('tark.server.save').answer(...).saved", uris)
    return [Path(uri).name for uri in found]


def test_an_edit_is_saved_where_the_file_was(neovim: Neovim, folder: Path) -> None:
    """Runs the user's autocommands, and leaves the cursor where it was."""
    path = folder / "a.py"
    path.write_text("one\ntwo\n")
    neovim.open(path)
    neovim.lua(
        "vim.api.nvim_create_autocmd('BufWritePre', { group = 'of_a_test', callback = function(event)"
        " vim.api.nvim_buf_set_lines(event.buf, -1, -1, false, { 'formatted' }) end })"
    )
    neovim.keys("Gl")
    answer(neovim, "tark.turn.start", prompt="one to ONE in a.py")
    waiting = "return require('tark.state').all()[1].permissions[1]"
    request = neovim.until(lambda: neovim.lua(waiting), "the question")
    decision = {name: request[name] for name in ("requestId", "digest")}
    answer(neovim, "tark.permission.answer", **decision, outcome="allow")
    neovim.until(lambda: path.read_text() == "ONE\ntwo\nformatted\n", "it is saved")
    assert neovim.lua("return vim.api.nvim_win_get_cursor(0)") == [2, 1]


def test_what_is_not_saved(neovim: Neovim, folder: Path) -> None:
    """It asks nothing, and forces nothing."""
    names = ["clean", "hidden", "changed", "readonly", "refused"]
    for name in names:
        (folder / name).write_text("one\n")
    neovim.lua("vim.o.confirm = true")
    for name in names:
        neovim.lua("vim.cmd.edit(...)", str(folder / name))
        neovim.until(lambda: neovim.lua("return #vim.lsp.get_clients({ bufnr = 0 }) > 0"), "the server")
        if name != "clean":
            neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'two' })")
    (folder / "changed").write_text("another program was here\n")
    (folder / "readonly").chmod(0o444)
    neovim.lua("vim.bo[vim.fn.bufnr('readonly')].readonly = true")
    neovim.lua(
        "vim.api.nvim_create_autocmd('BufWritePre',"
        " { group = 'of_a_test', pattern = '*/refused', command = 'throw \"no\"' })"
    )
    neovim.lua("vim.cmd('edit new | call setline(1, \"new\")')")
    paths = [folder / name for name in (*names, "new", "unknown")]
    assert saved(neovim, *paths) == ["clean", "hidden", "new"]
    assert (folder / "hidden").read_text() == "two\n"
    assert (folder / "changed").read_text() == "another program was here\n"
    assert [(folder / name).read_text() for name in ("readonly", "refused")] == ["one\n"] * 2
    assert not neovim.asks
    neovim.lua("vim.cmd('buffer clean')")
    (folder / "clean").write_text("another program was here\n")
    neovim.lua("vim.cmd('set autoread | checktime')")
    neovim.until(lambda: neovim.lines == ["another program was here"], "it is read again")
    neovim.keys("ccthree<Esc>")
    assert neovim.until(lambda: saved(neovim, folder / "clean"), "saved") == ["clean"]
