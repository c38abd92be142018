"""Which command lines only read, by the table; and what bash makes of those that are understood."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.commands.program import Row
from tark_lsp.commands.reading import ROWS, paths_of, programs, why_not_reading
from tark_lsp.commands.shell_text import LONGEST, read_command
from tark_lsp.trust_report.corpora import Corpora
from tark_lsp.trust_report.promise import Ground
from tark_lsp.trust_report.promises.exact_arguments import compare_scripts
from tark_lsp.trust_report.scripts import WORDS

CORPORA = Path(os.environ.get("TARK_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data/corpora/commands"
needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="the shared test data (TARK_SHARED) is not here")
FOLDER = Path("/project/work")


def why(text: str, cwd: Path = FOLDER) -> str:
    return why_not_reading(read_command(text), cwd, [FOLDER], lambda path: path.name.startswith(".env"))


def cases(name: str) -> Any:
    return json.loads((CORPORA / name).read_text(encoding="utf-8"))


@needs_corpora
def test_what_another_guard_never_allows_is_not_allowed() -> None:
    found = cases("continue_terminal_security.json")["cases"]
    disabled = [case["cmd"] for case in found if case["policy"] == "disabled" and case["base"] != "disabled"]
    assert len(disabled) > 20
    assert [command for command in disabled if not why(command)] == []


def test_the_table_agrees_with_its_examples() -> None:
    assert sum(len(row.yes) + len(row.no) for row in ROWS) > 250
    assert programs()


def test_a_row_without_an_example_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no example"):
        Row("ls")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("rm a", "rm is not on the list of commands that only read"),
        ("git push", "git push is not on the list of commands that only read"),
        ("ls --hyperlink", "--hyperlink of ls is not on the list of what only reads"),
        ("uniq a b", "b is one word too many for uniq"),
        ("cat ../a", "../a is outside the workspace"),
        ("cat /etc/passwd", "/etc/passwd is outside the workspace"),
        ("cat .env", ".env can hold keys"),
        ("git cat-file -p HEAD:.env", "HEAD:.env can hold keys"),
        ("cd .. && ls", ".. is outside the workspace"),
        ("cd a; cat ../../b", "../../b is outside the workspace"),
        ("cd a; cat ../b", "../b is outside the workspace"),  # `cd` can fail
        ("echo $HOME", "the shell can change the word $HOME"),
        ("cat a > b", "it redirects: > b"),
        ("ls\ncat a", "it contains the character U+000A"),
        ("ls \u202e", "it contains the character U+202E (right-to-left override)"),
        ("if true; then ls; fi", "it contains if true; then ls; fi"),
        ("grep", "grep has no text"),
        ("head -n", "-n of head has no value"),
        ("git diff", "git diff can start other programs without --no-ext-diff --no-textconv"),
        ("x" * (LONGEST + 1), "it has more than 10,000 characters"),
        ("", "it runs nothing"),
        ("cd a; " * 4 + "ls", ""),  # the same folder
        ("cd a && cd b && cd c && ls", ""),
        ("; ".join(f"cd a{number}" for number in range(900)), "it changes the folder too often"),
        ("time ls", "it does not begin with the plain name of a program: time"),
    ],
)
def test_the_reason_says_what_is_not_certain(command: str, reason: str) -> None:
    assert why(command) == reason


@pytest.mark.parametrize(
    "command",
    [
        f"cat {FOLDER.parent}/./{FOLDER.name}/a ./b c/../d",
        "cd src && ls && cat a",
        "git --no-pager log --oneline -5 main..HEAD",
        "grep -rn 'a;b|c' src 2>/dev/null | head -20",
        "echo 'für' | wc -c",
        "cat </dev/null",
        "find . ! -name '*.py'",
    ],
)
def test_commands_that_only_read(command: str) -> None:
    assert why(command) == ""


def test_the_words_that_name_files() -> None:
    command = read_command("grep -f patterns a b | timeout 5 head -n 5 c && sed -n 5p d")
    assert paths_of(command) == ("patterns", "a", "b", "c", "d")


@given(st.text(st.sampled_from([*"abc -_./$`'\"\\;&|<>(){}[]!#~*?=,@%^+:\t\n\u00a0\u202eäé0129"]), max_size=40))
def test_any_text_is_read(text: str) -> None:
    command = read_command(text)
    assert command.is_certain == bool(command.parts)
    assert why(text) if command.why else True


@given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join))
def test_any_words_are_read(text: str) -> None:
    command = read_command(text)
    assert command.is_certain == bool(command.parts)


def test_bash_runs_exactly_what_was_read(tmp_path: Path) -> None:
    """Each script that is understood runs under bash, where all programs only write down their arguments."""
    outcome = compare_scripts(Ground(tmp_path, Corpora(None)), 150)
    assert outcome.count > 20
    assert outcome.failures == ()


@pytest.mark.exhaustive
def test_bash_runs_exactly_what_was_read_of_many_scripts(tmp_path: Path) -> None:
    """`TARK_TEST_SCRIPTS`: how many are generated."""
    generated = int(os.environ.get("TARK_TEST_SCRIPTS", "2000"))
    outcome = compare_scripts(Ground(tmp_path, Corpora(None), seed=Random().randrange(1 << 30)), generated)
    print(f"{outcome.note}: {outcome.count} understood")
    assert outcome.count > 100
    assert outcome.failures == ()
