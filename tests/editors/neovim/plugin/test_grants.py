"""Grants and trust in the plugin, with the sandbox on: the keys of the float, and what :TarkPermissions revokes."""

from pathlib import Path

import pytest

from tests.editors.neovim.plugin.conftest import INIT, Start
from tests.editors.neovim.plugin.turns import told
from tests.editors.neovim.plugin.waiting import asks, begin, end, go, gone, live, said, waiting
from tests.sandbox.conftest import MISSING

pytestmark = [pytest.mark.editor, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

SCENARIO = """\
wire = "openai-chat"
[[reply]]
tool = "run_command"
when = "checked"
text = "It is checked."
[[reply]]
tool = "run_command"
when = "git"
text = "Git has told."
[[reply]]
tool = "run_command"
text = "It is not run."
[[reply]]
when = "check (?P<word>one|two|three)"
calls = [{ name = "run_command", arguments = { command = 'bash check.sh \\g<word>' } }]
[[reply]]
when = "look"
calls = [{ name = "run_command", arguments = { command = "git status" } }]
"""


def test_allowed_for_always_by_one_key_trusted_and_revoked(start: Start, workspace: Path, tmp_path: Path) -> None:
    (workspace / "check.sh").write_text("echo checked $*\n")
    (tmp_path / "model.toml").write_text(SCENARIO)
    init = tmp_path / "init.lua"
    init.write_text(f"vim.env.TARK_SANDBOX = 'auto'\ndofile('{INIT}')\n")
    neovim = start(tmp_path / "model.toml", init)
    neovim.open(workspace / "check.sh")
    begun = begin(neovim, "check one")
    asks(neovim, "bash check.sh one")
    there = go(neovim)
    for line in (
        "t allow exactly this command in this folder, this turn",
        "s allow exactly this command in this folder, this session",
        "S allow `bash check.sh ...` with any arguments in this folder, this session",
        "f allow exactly this command in this folder, always",
    ):
        assert line in there.lines
    assert "F allow `bash check.sh ...` with any arguments in this folder, always" in there.text.replace("\n  ", " ")
    live(neovim)
    neovim.keys("F")
    assert said(end(neovim, begun)) == "It is checked."
    gone(neovim)

    assert said(end(neovim, begin(neovim, "check two"))) == "It is checked."
    begun = begin(neovim, "look")
    there = asks(neovim, f"do you trust {workspace}?")
    assert "Not Now" in there.text
    neovim.keys("<Esc>:TarkPermission<CR>2")  # within 0.3 s of what it shows: no key counts
    assert waiting(neovim) == 1
    live(neovim)
    neovim.keys("2")
    assert said(end(neovim, begun)) == "Git has told."
    gone(neovim)
    assert said(end(neovim, begin(neovim, "check three"))) == "It is checked."

    neovim.keys(":TarkPermissions<CR>")
    neovim.choose(1)
    told(neovim, "revoked: `bash check.sh ...` with any arguments")
    begun = begin(neovim, "check one")
    asks(neovim, "bash check.sh one")
    go(neovim)
    live(neovim)
    neovim.keys("r")
    assert said(end(neovim, begun)) == "It is not run."
