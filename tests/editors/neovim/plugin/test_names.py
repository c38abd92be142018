"""Files with odd names and of odd kinds, buffers that get another name, and a server that Neovim started by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start, sharing
from tests.editors.neovim.plugin.files import CHANGED, SCENARIO, TEXT, ask, attached, edit, idle
from tests.editors.neovim.plugin.pictures import changes, init
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.turns import unhurt

pytestmark = pytest.mark.editor

NAME = "return vim.fs.basename(vim.api.nvim_buf_get_name(0))"
ON_INIT = """
    vim.lsp.config('tark', {
      on_init = function() vim.g.init = 1 end, on_exit = function() vim.g.exited = 1 end, filetypes = { 'text' },
    })
    vim.lsp.enable('tark')
"""
ALIVE = """
    local known = require('tark.state').all()
    return #known == 1 and known[1].alive and known[1].root
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    folder = tmp_path_factory.mktemp("names")
    yield from sharing(folder, SCENARIO, init(folder))


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return resting[0]


def accept(neovim: Neovim, path: Path, text: str) -> None:
    """Accepts both changes, which saves the file."""
    neovim.lua("require('tark').accept({ all = true })")
    neovim.until(lambda: changes(neovim) == [], "nothing more to decide")
    neovim.until(lambda: path.read_bytes().decode("latin1") == text, f"{text!r}, not {path.read_bytes()!r}")


@pytest.mark.parametrize(
    ("name", "encoding", "start", "end"),
    [
        pytest.param("a dir/a b%20c.txt", "utf-8", "", "\n", id="blanks"),
        pytest.param("дир/ü𝄞#[x]$HOME.txt", "utf-8", "𝄞\n", "\n", id="not ASCII"),
        pytest.param("bom.txt", "utf-8-sig", "", "\n", id="BOM"),
        pytest.param("dos.txt", "utf-8", "", "\r\n", id="dos"),
        pytest.param("mac.txt", "utf-8", "", "\r", id="mac"),
        pytest.param("latin1.txt", "latin1", "äöü\n", "\n", id="latin1"),
        pytest.param("linked/to.txt", "utf-8", "", "\n", id="symlink"),
    ],
)
def test_odd_files(neovim: Neovim, folder: Path, name: str, encoding: str, start: str, end: str) -> None:
    """Changes in them are drawn, accepted and saved."""
    path = folder / name
    if name.startswith("linked"):
        (folder / "real").mkdir()
        (folder / "linked").symlink_to("real")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((start + TEXT).replace("\n", end).encode(encoding))
    edit(neovim, path)
    neovim.lua("vim.o.fileformats = 'unix,dos,mac' vim.cmd('edit!')")
    attached(neovim)
    ask(neovim, name)
    accepted = (start + CHANGED).replace("\n", end).encode(encoding)
    accept(neovim, path, accepted.decode("latin1"))
    assert path.read_bytes() == accepted
    unhurt(neovim)


def test_another_name(neovim: Neovim, folder: Path) -> None:
    """`:file`, typing, `:saveas`, and the first `:write` of a buffer without a name."""
    path = folder / "first.txt"
    path.write_text(TEXT)
    edit(neovim, path)
    ask(neovim, "first.txt")

    neovim.keys(":file second.txt<CR>")
    neovim.until(lambda: neovim.lua(NAME) == "second.txt" and changes(neovim) == [], "the hunks are of the other name")
    attached(neovim)
    neovim.keys("Goeleven<Esc>:TarkStop!<CR>")
    idle(neovim)
    ask(neovim, "second.txt")
    neovim.keys(":TarkAccept!<CR>")
    changed = [*CHANGED.split(), "eleven"]
    neovim.until(lambda: neovim.lines == changed, "accepted under the new name")
    assert path.read_text() == TEXT

    neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", TEXT.split())
    neovim.keys(":saveas third.txt<CR>")
    neovim.until(lambda: neovim.lua(NAME) == "third.txt", "the third name")
    attached(neovim)
    ask(neovim, "third.txt")
    accept(neovim, folder / "third.txt", CHANGED)

    neovim.keys(":enew<CR>")
    neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", TEXT.split())
    neovim.keys(":write fourth.txt<CR>")
    neovim.until(lambda: neovim.lua(NAME) == "fourth.txt", "the fourth name")
    attached(neovim)
    ask(neovim, "fourth.txt")
    accept(neovim, folder / "fourth.txt", CHANGED)
    unhurt(neovim)


def test_callbacks_of_the_person(start: Start, workspace: Path, tmp_path: Path) -> None:
    """`vim.lsp.enable` with callbacks in place of the plugin's still works, also after a kill."""
    path = workspace / "a.txt"
    path.write_text(TEXT)
    own = init(tmp_path)
    own.write_text(own.read_text() + ON_INIT)
    neovim = start(SCENARIO, own)
    edit(neovim, path)
    assert neovim.lua("return vim.g.init") == 1
    neovim.until(lambda: neovim.lua(ALIVE) == str(workspace), "the plugin knows of it")
    ask(neovim, "a.txt")
    former = neovim.server_process()
    former.kill()
    neovim.until(lambda: neovim.lua("return vim.g.exited") == 1, "the person's callback")
    neovim.until(lambda: (found := neovim.find_server()) is not None and found.pid != former.pid, "another server")
    neovim.until(lambda: neovim.lua(ALIVE) == str(workspace), "the plugin knows of that, too")
    unhurt(neovim)
