"""How the progress of a turn ends: a line that the editor shows."""

from pathlib import Path

import pytest

from tark_lsp.agent.state import TurnEnd
from tark_lsp.messages import StopReason, Usage
from tark_lsp.server.turns.update_writer import progress_summary

THREE = {Path("a.py"): "applied", Path("b.py"): "partly", Path("c.py"): "rejected"}
PAID = Usage(input_tokens=8_000, output_tokens=100, cost_usd=0.0124)


@pytest.mark.parametrize(
    ("edits", "usage", "line"),
    [
        (THREE, PAID, "2 files changed · 8.1k tokens · $0.012"),  # files are counted, each of which can have many edits
        ({}, Usage(output_tokens=9, cost_usd=0.0), "9 tokens"),
        ({}, Usage(), "done"),
    ],
)
def test_the_line(edits: dict[Path, str], usage: Usage, line: str) -> None:
    assert progress_summary(TurnEnd(StopReason.END_TURN, "", usage, edits), None) == line
