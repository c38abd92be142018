"""What a repository, a model or a page may hold, and what it must not do to the person's Neovim."""

from pathlib import Path

import pytest

from tests.editors.neovim.plugin.conftest import Start
from tests.editors.neovim.plugin.test_server import write_init

pytestmark = pytest.mark.editor


def test_lua_of_a_repository_is_not_run(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Neovim looks for modules of Lua in the working directory, too, where they are nowhere else."""
    ran = tmp_path / "ran.txt"
    (workspace / "tark").mkdir()
    evil = f"vim.fn.writefile({{ 'evil' }}, '{ran}')\nreturn {{ cmd = {{ 'touch', '{ran}' }} }}\n"
    for name in ("installed", "utils", "local"):
        (workspace / "tark" / f"{name}.lua").write_text(evil)
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start(init=write_init(tmp_path, None, "vim.env.PATH = '/usr/bin:/bin'"))
    neovim.lua("vim.cmd.edit('a.py')")
    neovim.keys(":Tark hello<CR>")
    neovim.until(lambda: "no tark-lsp was found" in neovim.messages(), "the plugin looked for its server")
    neovim.lua("vim.cmd('checkhealth tark')")
    assert not ran.exists()
