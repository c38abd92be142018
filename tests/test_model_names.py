"""The check for stale model names: by a small library, and by hand for the docs and the installed one.

The library is not pinned, and vendors publish models every month, so the docs are not checked in a push.
"""

import pytest

from tests.model_names import Known, find_stale_names, installed_library, read_family, stale_names, stale_reason

CLAUDES = (
    Known("claude-3-5-sonnet"),
    Known("claude-sonnet-4-5"),
    Known("claude-sonnet-5-5"),
    Known("claude-sonnet-6", deprecated=True),
    Known("claude-haiku-5-5"),
    Known("claude-opus-4-1", deprecated=True),
)
GPTS = (Known("gpt-5"), Known("gpt-5.4"), Known("gpt-5.5"), Known("gpt-6-sol"), Known("gpt-6.1-sol"), Known("gpt-4o"))
LIBRARY = {
    "anthropic": CLAUDES,
    "openai": GPTS,
    "google": (Known("gemini-3-pro-preview", deprecated=True), Known("gemini-3.1-pro-preview")),
    "x-ai": (Known("grok-4.7"),),
    "deepseek": (Known("deepseek-flash"), Known("deepseek-v4-pro")),
}


@pytest.mark.parametrize(
    ("name", "words", "version"),
    [
        ("claude-sonnet-5-5-20261001", {"claude", "sonnet"}, (5, 5)),
        ("claude-3-5-sonnet-latest", {"claude", "sonnet"}, (3, 5)),
        ("gpt-6.1-sol", {"gpt", "sol"}, (6, 1)),
        ("gpt-5-2025-08-07", {"gpt"}, (5,)),
        ("gemini-3.1-pro-preview", {"gemini", "pro"}, (3, 1)),
        ("deepseek-flash", {"deepseek", "flash"}, ()),
    ],
)
def test_families(name: str, words: set[str], version: tuple[int, ...]) -> None:
    assert read_family(name) == (frozenset(words), version)


@pytest.mark.parametrize(
    ("name", "vendor", "reason"),
    [
        ("claude-sonnet-5-5", "anthropic", ""),
        ("claude-sonnet-5-5-20261001", "anthropic", ""),
        ("claude-sonnet-4-5", "anthropic", "is older than claude-sonnet-5-5"),
        ("claude-3-5-sonnet", "anthropic", "is older than claude-sonnet-5-5"),
        ("claude-opus-4-1", "anthropic", "is deprecated"),
        ("claude-sonnet-6", "anthropic", "is deprecated"),
        ("claude-poet-1", "anthropic", "is unknown"),
        ("gpt-5", "openai", "is older than gpt-5.5"),
        ("gpt-5.4", "openai", "is older than gpt-5.5"),
        ("gpt-6-sol", "openai", "is older than gpt-6.1-sol"),
        ("gpt-6.1-sol", "openai", ""),
        ("gpt-4o", "openai", ""),
        ("gemini-3-pro-preview", "google", "is deprecated"),
        ("deepseek-flash", "deepseek", ""),
    ],
)
def test_why_a_name_is_stale(name: str, vendor: str, reason: str) -> None:
    assert stale_reason(name, LIBRARY[vendor]) == reason


def test_names_in_a_text() -> None:
    text = """
model = "anthropic/claude-sonnet-4-5"   # default
`openai/gpt-6.1-sol`, `openrouter/openai/gpt-5`, `ollama/qwen3`
the patterns `claude-sonnet-*` and `gpt-5*`; the wire `gemini-content`, deepseek-flash
the alias `gpt-5=ollama/qwen3`; `tark-lsp mcp import claude-code`
https://example.org/claude-code/changelog
"""
    assert [str(stale) for stale in stale_names(text, "a.md", LIBRARY)] == [
        "a.md:2: claude-sonnet-4-5 is older than claude-sonnet-5-5",
        "a.md:3: gpt-5 is older than gpt-5.5",
    ]


@pytest.mark.exhaustive
def test_the_docs_name_current_models() -> None:
    assert [str(stale) for stale in find_stale_names()] == []


@pytest.mark.exhaustive
def test_the_library_has_the_vendors() -> None:
    assert all(installed_library().values())
    assert set(installed_library()) == set(LIBRARY)
