"""What is read in each language: the samples, and facts that hold for all rows of the table."""

import ast
from pathlib import Path

from tark_lsp.index.languages import all_languages, language_of
from tark_lsp.index.parsing import parse_file
from tests.cases import every
from tests.index.samples import Sample, samples

DOCS = Path(__file__).parents[2] / "docs" / "index.md"


@every("sample", samples(), lambda sample: sample.language)
def test_what_is_read(sample: Sample) -> None:
    assert sample.reading() == sample.read


def test_every_language_has_a_sample() -> None:
    assert {sample.language for sample in samples()} == {row.name for row in all_languages()}


@every("row", all_languages(), lambda row: row.name)
def test_rows(row: object) -> None:
    from tark_lsp.index.languages.language import CodeLanguage

    assert isinstance(row, CodeLanguage)
    assert "#" not in row.query, "predicates crash on a text that comes in pieces"
    assert all(ending.startswith(".") and ending == ending.lower() for ending in row.endings)


def test_no_ending_or_name_is_of_two_languages() -> None:
    names = [name.lower() for row in all_languages() for name in row.endings + row.names]
    assert len(names) == len(set(names))


def test_the_language_of_a_file() -> None:
    expected = {
        ("a/b.PY", ""): "python",
        ("Rakefile", ""): "ruby",
        ("tool", "#!/usr/bin/env python3\n"): "python",
        ("tool", "#!/bin/sh -e\n"): "bash",
        ("tool", "#!/usr/bin/env -S node --flag\n"): "javascript",
        ("tool", "#!\n"): None,
        ("tool.txt", "#!/bin/sh\n"): None,
        ("x.h", ""): "cpp",
    }
    for (path, text), name in expected.items():
        row = language_of(path, text)
        assert (row.name if row else None) == name, path


def test_docs_list_every_language() -> None:
    rows = DOCS.read_text(encoding="utf-8")
    for row in all_languages():
        for name in row.endings + row.names:
            assert f"`{name}`" in rows, f"{row.name}: {name} is missing in docs/index.md"


def test_definitions_of_python_are_those_of_ast() -> None:
    files = sorted(Path(ast.__file__).parent.glob("*.py"))[::16]
    assert files
    for path in files:
        compare_with_ast(path)


def compare_with_ast(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = {
        (node.name, node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    found = {
        (one.name, one.start_line)
        for one in parse_file(str(path), text).definitions
        if one.kind in ("function", "method", "class")
    }
    assert found == expected, path
