"""How much to think, in the words each model takes."""

import pytest

from tark_lsp.llm.wire.thinking import EFFORT_SCALE, effort_for

GPT_5 = ("minimal", "low", "medium", "high")
GPT_5_1 = ("none", "low", "medium", "high")
O_SERIES = ("low", "medium", "high")
GEMINI_3_PRO = ("low", "high")
CLAUDE = ("low", "medium", "high", "max")


@pytest.mark.parametrize(
    ("level", "efforts", "sent"),
    [
        ("auto", GPT_5, ""),
        ("auto", (), ""),
        ("off", GPT_5, "minimal"),
        ("off", GPT_5_1, "none"),
        ("off", O_SERIES, "low"),
        ("off", (), ""),
        ("low", GPT_5_1, "low"),
        ("minimal", GPT_5_1, "low"),
        ("minimal", O_SERIES, "low"),
        ("medium", GEMINI_3_PRO, "low"),
        ("high", GEMINI_3_PRO, "high"),
        ("max", GEMINI_3_PRO, "high"),
        ("max", CLAUDE, "max"),
        ("medium", (), "medium"),
        ("low", ("none",), ""),
    ],
)
def test_effort(level: str, efforts: tuple[str, ...], sent: str) -> None:
    assert effort_for(level, efforts) == sent


@pytest.mark.parametrize("level", ["minimal", "low", "medium", "high", "max"])
def test_a_requested_level_never_becomes_none(level: str) -> None:
    assert effort_for(level, EFFORT_SCALE) == level
    assert effort_for(level, ("none", "max")) == "max"
