"""Which commands `tark-lsp run --allow` runs unasked."""

import pytest

from tark_lsp.cli.running.allowed_commands import STARTERS, AllowedCommands, plain_parts

MATCHES: list[tuple[str, str, bool]] = [
    ("run_command(pytest *)", "pytest", True),
    ("run_command(pytest *)", "pytest -q tests/a.py::test_b", True),
    ("run_command(pytest *)", "  pytest   -q ", True),
    ("run_command(pytest)", "pytest -q", False),
    ("run_command(pytest)", "pytest", True),
    ("run_command", "ls -l", True),
    ("run_command(*)", "ls -l", True),
    ("run_command(npm run *:ci)", "npm run lint:ci", True),
    ("run_command(npm run *:ci)", "npm run lint:ci -- --fix", False),
    ("run_command(npm run *:ci)", "npm run a b:ci", False),
    ("run_command(git * --stat)", "git diff --stat", True),
    ("run_command(python -m unittest *)", "python -m unittest -q", True),
    ("run_command(python -m unittest *)", "python -m http.server", False),
    ("run_command(uv run pytest *)", "uv run pytest -x", True),
    ("run_command(pytest *)", "./pytest -q", False),
    ("run_command(pytest *)", "pytest2", False),
    ("run_command(pytest *)", "PYTEST -q", False),
    ("run_command(a[bc])", "ab", False),
    ("run_command(a?c)", "abc", False),
    ("edit_file(pytest *)", "pytest", False),
    ("run_command(env *)", "env pytest", False),
    ("run_command(*)", "A=b pytest", False),
    ("run_command(*)", "sudo ls", False),
    ("run_command(*)", "/usr/bin/env ls", False),
    ("run_command(*)", "timeout 9 ls", False),
    ("run_command(*)", "SUDO ls", False),
    ("run_command(*)", "bash x", False),
    ("run_command(*)", ". x", False),
    ("run_command(*)", "if ls", False),
    ("run_command(*)", "", False),
]


@pytest.mark.parametrize(("rule", "command", "allowed"), MATCHES)
def test_a_rule_and_a_command(rule: str, command: str, allowed: bool) -> None:
    assert (AllowedCommands([rule]).find_pattern(command) is not None) == allowed


@pytest.mark.parametrize("character", [*"\n\t\r\0&<>()$`\\*?[]{}#", "\u202e", "\u00a0"])
def test_a_character_that_changes_words_never_matches(character: str) -> None:
    for command in (f"pytest {character}", f"pytest a{character}b", f"{character}pytest"):
        assert AllowedCommands(["run_command(*)"]).find_pattern(command) is None


def test_wrappers_never_match() -> None:
    for program in STARTERS:
        assert plain_parts(f"{program} ls") == ()
        assert plain_parts(f"ls && {program} ls") == ()


def test_each_part_of_a_compound_command_has_to_fit_a_rule() -> None:
    allowed = AllowedCommands(["run_command(pytest *)", "run_command(ruff check *)"])
    assert allowed.find_pattern("ruff check . && pytest -q 'a b'") == "ruff check *"
    assert allowed.find_pattern("ruff check . && pytest -q; ls") is None
