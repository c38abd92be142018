"""The plugin in a real Neovim: the server starts with the first file."""

from pathlib import Path

import pytest

from tests.editors.neovim.plugin.conftest import Start

pytestmark = pytest.mark.editor


def test_a_command_is_answered_and_updates_come(start: Start, workspace: Path) -> None:
    (workspace / "a.py").write_text("a = 1\n")
    neovim = start()
    neovim.open(workspace / "a.py")
    neovim.lua(
        """
        local server = require('tark.server')
        server.command(server.client(), 'tark.turn.start', { prompt = 'hello' }, function(problem, answer)
          vim.g.answer = { problem, answer }
        end)
        """
    )
    turns = """
        local known = require('tark.state').all()[1]
        local _, transcript = next(known.transcripts)
        return transcript and transcript.turns or {}
    """
    neovim.until(lambda: [turn.get("state") for turn in neovim.lua(turns)] == ["ended"], "the turn ended")
    assert [block["text"] for block in neovim.lua(turns)[0]["blocks"]]
