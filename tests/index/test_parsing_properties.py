"""Any text is read: never an error, always the same values, in lines that exist, and chunks that cover the text."""

import ast
import random
import re
import sysconfig
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.index import grammars
from tark_lsp.index.chunking import MOST_CHARACTERS, MOST_LINES
from tark_lsp.index.grammars import grammar_of
from tark_lsp.index.languages import language_of
from tark_lsp.index.model import ParsedFile
from tark_lsp.index.parsing import parse_file, parse_without_grammar
from tests.cases import every
from tests.exhaustive import examples, seeds
from tests.index.samples import Sample, samples
from tests.index.test_samples import compare_with_ast

SAMPLES = samples()
NAMES = [sample.file_name for sample in SAMPLES]

HUGE = {
    "a line of 1 MB": "x=1;" * 250_000,
    "a line of 1 MB with many names": "".join(f"é{number}=é;" for number in range(70_000)),
}
HOSTILE = {
    "nothing": "",
    "blank": " \n\t\n",
    "CRLF": "def f():\r\n    return 1\r\n",
    "lone CR": "def f():\r    return 1\r",
    "form feeds": "\f\ndef f():\f\v\x1c\x85\u2028 pass\n" * 50,
    "NUL": "def f():\n\0\n    pass\0\n",
    "surrogates": "def f\ud800(): pass\nx = '\udfff'\ny = z\n",
    "a byte order mark": "\ufeffdef f(): pass\n",
    "emoji before a name": "'😀'; area(\U0001d4d0) # é\n",
    "open brackets": "(" * 10_000,
    "nested brackets": "[" * 10_000 + "]" * 10_000,
    "nested blocks": "if (a) {" * 5_000,
    "nested names": "a." * 20_000 + "b",
    "nested calls": "f(" * 10_000,
    "a long line": "x=1;" * 5_000,
    "a long line of many names": "".join(f"é{number}=é;" for number in range(3_000)),
    "a text of more than 1 MB": "x = 1\n" * 200_000,
    "a long name": "a" * 100_000 + "()",
    "many blank lines": "\n" * 50_000,
}


def check(name: str, text: str) -> ParsedFile:
    """All that holds for every text."""
    file = parse_file(name, text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    shown = [line.replace("\0", " ").encode("utf-8", "replace").decode() for line in lines]  # as the parser sees them
    check_chunks(file, shown)
    for one in file.definitions:
        assert 1 <= one.start_line <= one.name_line <= one.end_line <= len(lines), one
        assert shown[one.name_line - 1].startswith(one.name, one.name_column), one
        assert one.name
        assert one.qualified_name.endswith(one.name)
        assert len(one.signature) <= 300
        assert "\n" not in one.signature
    for reference in file.references:
        assert shown[reference.line - 1].startswith(reference.name, reference.column), reference
        assert reference.name
    assert all(1 <= one.line <= len(lines) for one in file.imports)
    assert list(file.references) == sorted(file.references, key=lambda one: (one.line, one.column))
    return file


def check_chunks(file: ParsedFile, lines: list[str]) -> None:
    covered = [line for chunk in file.chunks for line in range(chunk.start_line, chunk.end_line + 1)]
    assert covered == sorted(set(covered)), "a line is in two chunks, or they are not in order"
    assert {line for line, text in enumerate(lines, 1) if text.strip()} <= set(covered)
    for chunk in file.chunks:
        part = lines[chunk.start_line - 1 : chunk.end_line]
        assert part[0].strip()
        assert part[-1].strip()
        assert len(part) <= MOST_LINES
        assert len(part) == 1 or len("\n".join(part)) <= MOST_CHARACTERS
    symbols = {one.qualified_name for one in file.definitions} | {""}
    assert {chunk.symbol for chunk in file.chunks} <= symbols


@every("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    for file_name in ("a.py", "a.ts", "a.unknown"):
        check(file_name, HOSTILE[name])


@pytest.mark.exhaustive
@every("file_name", NAMES)
def test_hostile_texts_in_all_languages(file_name: str) -> None:
    for text in (HOSTILE | HUGE).values():
        check(file_name, text)


@pytest.mark.property
def test_samples_cut_and_mixed() -> None:
    """A cut is what is there while you type; two halves are what a merge leaves."""
    for seed in seeds(150):
        chance = random.Random(seed)
        sample, other = chance.choices(SAMPLES, k=2)
        cut = chance.randrange(len(sample.source) + 1)
        start = chance.randrange(len(other.source) + 1)
        ending = chance.choice(("\n", "\r\n", "\r"))
        check(sample.file_name, (sample.source[:cut] + other.source[start:]).replace("\n", ending))


@given(st.sampled_from(NAMES), st.text(max_size=300))
def test_any_text(name: str, text: str) -> None:
    check(name, text)


@given(st.sampled_from(SAMPLES), st.data())
def test_the_same_text_is_read_the_same(sample: Sample, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(sample.source)))
    text = sample.source[:cut]
    assert parse_file(sample.file_name, text) == parse_file(sample.file_name, text)


def test_line_endings_change_nothing() -> None:
    for sample in SAMPLES:
        expected = parse_file(sample.file_name, sample.source)
        for ending in ("\r\n", "\r"):
            assert parse_file(sample.file_name, sample.source.replace("\n", ending)) == expected, sample.language


def test_columns_are_code_points() -> None:
    file = parse_file("a.py", "'é😀'; area(größe)\ndef 名前(): pass\n")
    assert [(one.name, one.column) for one in file.references] == [("area", 6), ("größe", 11)]
    assert [(one.name, one.name_column) for one in file.definitions] == [("名前", 4)]


def test_without_time_there_are_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = SAMPLES[0].source * 400
    monkeypatch.setattr(grammars, "SECONDS", -1.0)
    file = parse_file(SAMPLES[0].file_name, text)
    assert file == parse_without_grammar(text)
    assert file.language == ""
    assert file.chunks
    monkeypatch.undo()
    assert parse_file(SAMPLES[0].file_name, text).language == SAMPLES[0].language


def test_grammars_are_imported_when_they_are_used() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from tark_lsp.index.parsing import parse_file; parse_file('a.go', 'package a');"
        "print(sorted(name for name in sys.modules if re.fullmatch('tree_sitter_[a-z_]+', name)))"
    )
    run = subprocess.run([sys.executable, "-c", "import re; " + code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['tree_sitter_go']"


@pytest.mark.exhaustive
def test_definitions_of_all_installed_python_are_those_of_ast() -> None:
    files = sorted(Path(sysconfig.get_path("purelib")).rglob("*.py"))
    wrong = [path for path in files if is_readable(path) and differs_from_ast(path)]
    # Files in which the grammar itself finds an error that Python does not.
    assert len(wrong) <= len(files) // 2_000, wrong


def is_readable(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return len(text) < 1_000_000 and re.search("[\f\x1c-\x1e\x85\u2028]", text) is None


def differs_from_ast(path: Path) -> bool:
    try:
        compare_with_ast(path)
    except AssertionError:
        return True
    return False


@pytest.mark.exhaustive
def test_every_cut_of_the_samples() -> None:
    for sample in SAMPLES:
        for cut in range(0, len(sample.source), max(1, 30 // examples(1))):
            check(sample.file_name, sample.source[:cut])


def test_a_text_is_forgotten_after_it_was_parsed() -> None:
    language = language_of("a.py", "")
    assert language is not None
    comment = b"#" * 900_000
    grammar_of(language).matches(comment)
    before = psutil.Process().memory_full_info().uss
    for _ in range(60):
        grammar_of(language).matches(comment + b"\n")
    assert psutil.Process().memory_full_info().uss - before < 25_000_000
