"""Patterns that a user can allow: what is proposed for a command, and that nothing else is covered."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.commands.grant_patterns import Pattern, covers_all, widest, widths
from tark_lsp.commands.shell_text import read_command
from tark_lsp.tools.danger import danger_of
from tests.cases import every

CORPORA = Path(os.environ.get("TARK_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data/corpora/commands"
needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="the shared test data (TARK_SHARED) is not here")
GRANTED = tuple(Pattern(tuple(text.split()), any_arguments=True) for text in ("pytest", "npm run test", "git log"))


@pytest.mark.parametrize(
    ("command", "exact", "wide"),
    [
        ("pytest -x tests", "pytest -x tests", "pytest ..."),
        ("pytest", "pytest", "pytest ..."),
        ("npm run test -- -u", "npm run test -- -u", "npm run test ..."),
        ("npm test", "npm test", "npm test ..."),
        ("cargo test -p a", "cargo test -p a", "cargo test ..."),
        ("git log -p", "git log -p", "git log ..."),
        ("git stash list -p", "git stash list -p", "git stash list ..."),
        ("python -m pytest -q", "python -m pytest -q", "python -m pytest ..."),
        ("python3.11 tools/gen.py a", "python3.11 tools/gen.py a", "python3.11 tools/gen.py ..."),
        ("make test", "make test", "make test ..."),
        ("go run ./cmd/x -v", "go run ./cmd/x -v", "go run ./cmd/x ..."),
        ("uv run pytest -x", "uv run pytest -x", "uv run pytest ..."),
        ("uv run python -m pytest -x", "uv run python -m pytest -x", "uv run python -m pytest ..."),
        ("timeout 60 cargo test", "timeout 60 cargo test", "timeout 60 cargo test ..."),
        ("./gradlew test", "./gradlew test", "./gradlew test ..."),
        (".venv/bin/python -m pytest a", ".venv/bin/python -m pytest a", ".venv/bin/python -m pytest ..."),
        ("./run-tests.sh a", "./run-tests.sh a", "./run-tests.sh ..."),
        ("bash run.sh x", "bash run.sh x", "bash run.sh ..."),
        ("cd sub && pytest -x", "cd sub|pytest -x", "cd sub|pytest ..."),
        ("pytest -q 2>&1 | tail -5", "pytest -q|tail -5", "pytest ...|tail ..."),
        ("pytest a && pytest b", "pytest a|pytest b", "pytest ..."),
        ("echo 'a b'", "echo 'a b'", "echo ..."),
    ],
)
def test_two_widths_are_proposed(command: str, exact: str, wide: str) -> None:
    assert ["|".join(map(str, width)) for width in widths(read_command(command).parts)] == [exact, wide]


ONLY_EXACT = (
    "python",
    "python3 -c x",
    "python -m pdb x.py",
    "bash -c x",
    "sh",
    "node --eval x",
    "deno eval x",
    "deno run -A x.ts",
    "go run -exec x a.go",
    "uv run python",
    "uv run --with a pytest",
    "npx --yes jest",
    "npx bash",
    "timeout 5 sh -c x",
    "nice -n 5 pytest",
    "env X=1 pytest",
    "xargs pytest",
    "find . -name x",
    "awk 1 a",
    "sed -n 1p a",
    "make",
    "make -j4 test",
    "git -C x log",
    "git -c x=y log",
    "git --paginate log",
    "git log --outp=x",
    "git bisect run x",
    "git submodule foreach x",
    "npm run",
    "docker run x",
    "cd src",
    "ssh host x",
)


@every("command", ONLY_EXACT)
def test_no_arguments_are_left_open_where_they_could_name_another_program(command: str) -> None:
    assert widths(read_command(command).parts) == (tuple(map(Pattern, read_command(command).parts)),)


def test_flags_that_change_what_a_program_does_are_covered_only_if_they_are_named() -> None:
    granted = widest(("git", "log", "--oneline"))
    assert granted.covers(("git", "log", "-p", "main..HEAD"))
    for flag in ("--output=x", "--outpu=x", "--output", "--textconv", "--ext-diff"):
        assert not granted.covers(("git", "log", flag)), flag
    assert Pattern(("git", "log", "--output=x")).covers(("git", "log", "--output=x"))


def covered(text: str) -> bool:
    """As a decision sees it: dangerous commands are asked about before any grant."""
    return danger_of(text) is None and covers_all(GRANTED, read_command(text).parts)


def malicious() -> list[str]:
    cases: Any = json.loads((CORPORA / "bypass_cases.json").read_text())
    other: Any = json.loads((CORPORA / "continue_terminal_security.json").read_text())
    refused = [case["cmd"] for case in other["cases"] if case["policy"] != "allowedWithoutPermission"]
    return [*(case["cmd"] for case in cases["malicious"]), *refused]


FORMS = (
    "{granted}; {other}",
    "{granted} && {other}",
    "{granted} || {other}",
    "{granted} | {other}",
    "{granted} & {other}",
    "{granted}\n{other}",
    "{granted} $({other})",
    "{granted} `{other}`",
    '{granted} "$({other})"',
    "{granted} <({other})",
    "{granted} > {other}",
    "{other}; {granted}",
    "{other} | {granted}",
    "{other} {granted}",
    "X={other} {granted}",
    "{granted}\\\n{other}",
    "{granted}{{,;{other}}}",
    "! {granted}; {other}",
    "( {granted}; {other} )",
    "{granted} # {other}",
)


@needs_corpora
def test_no_mutation_of_a_malicious_command_is_covered() -> None:
    granted = [str(pattern).removesuffix(" ...") for pattern in GRANTED]
    texts = [
        form.format(granted=granted[(index + number) % 3], other=other)
        for index, other in enumerate(malicious())
        for number, form in enumerate(FORMS)
        if not covered(other)  # `git log` itself is in one of the corpora
    ]
    assert len(texts) > 4000
    assert [text for text in texts if covered(text)] == []


@needs_corpora
def test_a_malicious_command_gets_no_pattern_that_is_wider_than_itself_and_dangerous() -> None:
    for command in malicious():
        parts = read_command(command).parts
        if danger_of(command) is None:
            assert all(covers_all(width, parts) for width in widths(parts) if parts)


def test_a_flag_that_changes_git_is_also_seen_after_another_program() -> None:
    pattern = widest(("timeout", "5", "git", "log", "-5"))
    assert str(pattern) == "timeout 5 git log ..."
    assert pattern.covers(("timeout", "5", "git", "log", "--stat"))
    assert not pattern.covers(("timeout", "5", "git", "log", "--output=x"))


WORD = st.sampled_from(
    ["pytest", "npm", "run", "test", "git", "log", "-x", "--output=x", "a.py", "python", "-c", "sh", ""]
)


@given(st.lists(st.lists(WORD, min_size=1, max_size=5).map(tuple), max_size=3).map(tuple))
def test_each_width_covers_the_command_it_was_made_for(parts: tuple[tuple[str, ...], ...]) -> None:
    assert all(covers_all(width, parts) for width in widths(parts)) or not parts


@given(st.text(max_size=60) | st.sampled_from(FORMS).map(lambda form: form.format(granted="pytest", other="rm x")))
def test_a_pattern_never_covers_a_command_that_is_not_understood(text: str) -> None:
    command = read_command(text)
    if not command.is_certain:
        assert not covers_all((*GRANTED, Pattern(("",), any_arguments=True)), command.parts)


@given(st.lists(WORD, min_size=1, max_size=6).map(tuple), st.lists(WORD, max_size=4).map(tuple))
def test_a_pattern_covers_only_its_own_words_and_what_follows(part: tuple[str, ...], other: tuple[str, ...]) -> None:
    pattern = widest(part)
    if pattern.covers(other):
        assert other[: len(pattern.words)] == pattern.words
        assert pattern.any_arguments or other == pattern.words
    assert Pattern(part).covers(other) is (part == other)
