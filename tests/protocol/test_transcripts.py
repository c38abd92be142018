"""Updates and the transcript they make (docs/clients.md): every case in Python, Lua and TypeScript alike."""

from pathlib import Path

import pytest

from tests.protocol.like_cases import CASES, read
from tests.protocol.players import Player, without_nulls


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_case(player: Player, path: Path) -> None:
    case = read(path)
    changes = [step.pop("change", None) for step in case["steps"]]
    made = player.play(case)
    assert without_nulls(made["transcript"]) == case["transcript"]
    assert made["changes"] == changes


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_case_says_what_it_is_about(path: Path) -> None:
    assert read(path)["about"].endswith(".")
