"""The parsers on recorded outputs of real runs, and on cut, coloured, mixed and enormous output."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.tools.results import plain_text
from tark_lsp.tools.runners.parsers import (
    any_text,
    cargo_json,
    go_json,
    jest_json,
    lint_json,
    located,
    make_text,
    node_text,
    pytest_text,
    unittest_text,
)
from tark_lsp.tools.runners.report import LONGEST_MESSAGE, Parser, Report
from tests.cases import cases

RECORDED = Path(__file__).parent / "recorded"

PARSERS: dict[str, Parser] = {
    "pytest": pytest_text.parse,
    "unittest": unittest_text.parse,
    "node": node_text.parse,
    "jest": jest_json.parse,
    "vitest": jest_json.parse,
    "tsc": located.parse,
    "govet": located.parse,
    "go": go_json.parse,
    "cargo": cargo_json.parse,
    "cargocheck": cargo_json.parse_check,
    "ruff": lint_json.parse_ruff,
    "mypy": lint_json.parse_mypy,
    "eslint": lint_json.parse_eslint,
    "any": any_text.parse,
    "make": make_text.parse_tests,
    "makecheck": make_text.parse_checks,
}

PROJECT = "/home/me/project"
ROWS: tuple[tuple[str, str, dict[str, int] | None, list[str]], ...] = (
    # recorded output, parser, counts (None: not understood), failures: file:line test
    (
        "pytest-fail",
        "pytest",
        {"failed": 3, "passed": 1, "skipped": 1, "xfailed": 1, "errors": 1},
        [
            "tests/test_a.py:12 test_bad",
            "tests/test_a.py:4 TestX::test_raises[1]",
            "tests/test_a.py:4 TestX::test_raises[a b::c]",
            "tests/test_a.py:24 test_with",
        ],
    ),
    ("pytest-collect", "pytest", {"errors": 2}, ["tests/test_imp.py:1", f"{PROJECT}/tests/test_syn.py:1"]),
    ("pytest-pass", "pytest", {"passed": 1}, []),
    ("pytest-zero", "pytest", {"deselected": 7}, []),
    ("pytest-crash", "pytest", None, []),
    ("pytest-usage", "pytest", None, []),
    (
        "unittest-fail",
        "unittest",
        {"passed": 1, "failed": 4, "skipped": 1},
        [
            f"{PROJECT}/test_imp.py:1 unittest.loader._FailedTest.test_imp",
            f"{PROJECT}/test_u.py:6 test_u.T.test_err",
            f"{PROJECT}/test_u.py:5 test_u.T.test_bad",
            f"{PROJECT}/test_u.py:11 test_u.T.test_sub (i=0)",
            f"{PROJECT}/test_u.py:11 test_u.T.test_sub (i=1)",
        ],
    ),
    ("unittest-pass", "unittest", {"passed": 1}, []),
    ("unittest-zero", "unittest", {}, []),
    (
        "vitest-fail",
        "vitest",
        {"passed": 1, "failed": 3, "skipped": 1, "errors": 1},
        [
            f"{PROJECT}/broken.test.js",
            f"{PROJECT}/sum.test.js:5 sum breaks",
            f"{PROJECT}/sum.test.js:7 sum throws",
            f"{PROJECT}/sum.test.js:8 sum objects",
        ],
    ),
    ("vitest-pass", "vitest", {"passed": 1, "skipped": 4}, []),
    ("vitest-zero", "vitest", {}, []),
    (
        "vitest-text",
        "any",
        {"failed": 3, "passed": 1, "skipped": 1},
        [
            "broken.test.js:1 broken.test.js [ broken.test.js ]",
            "sum.test.js:5 sum.test.js > sum > breaks",
            "sum.test.js:7 sum.test.js > sum > throws",
            "sum.test.js:8 sum.test.js > sum > objects",
        ],
    ),
    (
        "jest-fail",
        "jest",
        {"passed": 1, "failed": 2, "skipped": 1, "errors": 1},
        [
            f"{PROJECT}/sum.test.js:3 sum breaks",
            f"{PROJECT}/sum.test.js:5 sum throws",
            f"{PROJECT}/broken.test.js:1",
        ],
    ),
    ("jest-zero", "jest", {}, []),
    (
        "jest-text",
        "any",
        {"failed": 2, "skipped": 1, "passed": 1},
        ["sum.test.js:3 sum › breaks", "sum.test.js:5 sum › throws", "broken.test.js:1 Test suite failed to run"],
    ),
    (
        "node-tap",
        "node",
        {"passed": 2, "failed": 2, "skipped": 1},
        [f"{PROJECT}/a.test.js:3 breaks", f"{PROJECT}/a.test.js:4 inner breaks"],
    ),
    (
        "node-spec",
        "any",
        {"passed": 2, "failed": 2, "skipped": 1},
        [f"{PROJECT}/a.test.js:3 breaks", f"{PROJECT}/a.test.js:4 inner breaks"],
    ),
    (
        "cargo-fail",
        "cargo",
        {"passed": 1, "failed": 2, "skipped": 1},
        ["src/lib.rs:10 tests::bad", "tests/it.rs:2 integration"],
    ),
    ("cargo-compile", "cargo", {"errors": 1}, ["src/lib.rs:17 E0308"]),
    ("cargo-pass", "cargo", {"passed": 1}, []),
    ("cargo-zero", "cargo", {}, []),
    ("cargo-manifest", "cargo", None, []),
    ("cargo-compile", "cargocheck", {"errors": 1}, ["src/lib.rs:17 E0308"]),
    ("cargocheck-warn", "cargocheck", {"warnings": 1}, ["src/lib.rs:17 unused_variables"]),
    (
        "go-fail",
        "go",
        {"failed": 1, "errors": 2},
        ["bad/bad.go:3", "calc/calc.go:5", f"{PROJECT}/crash/c_test.go:5 TestNil"],
    ),
    (
        "go-tests",
        "go",
        {"passed": 1, "failed": 2, "skipped": 1},
        ["example.com/m/calc/calc_test.go:9 TestBad", "example.com/m/calc/calc_test.go:12 TestSub/inner_one"],
    ),
    (
        "go-text-tests",
        "any",
        {"failed": 2},
        ["example.com/m/calc/calc_test.go:9 TestBad", "example.com/m/calc/calc_test.go:12 TestSub/inner_one"],
    ),
    ("go-nomatch", "go", {"errors": 1}, ["calc/calc.go:5"]),
    ("go-pass", "go", {"passed": 1}, []),
    ("go-zero", "go", {}, []),
    ("govet-fail", "govet", {"errors": 2}, ["bad/bad.go:3", "calc/calc.go:5"]),
    ("tsc-fail", "tsc", {"errors": 3}, ["a.ts:1 TS2322", "a.ts:2 TS7006", "a.ts:5 TS2322"]),
    (
        "ruff-fail",
        "ruff",
        {"errors": 5},
        [
            f"{PROJECT}/a.py:1 I001",
            f"{PROJECT}/a.py:1 F401",
            *[f"{PROJECT}/b.py:{n} invalid-syntax" for n in (1, 1, 2)],
        ],
    ),
    ("ruff-none", "ruff", {}, []),
    ("mypy-fail", "mypy", {"errors": 2}, ["a.py:3 return-value", "a.py:4 arg-type"]),
    (
        "eslint-fail",
        "eslint",
        {"errors": 2, "warnings": 1},
        [f"{PROJECT}/a.js:1 no-unused-vars", f"{PROJECT}/a.js:2 eqeqeq", f"{PROJECT}/bad.js:1"],
    ),
    ("eslint-pass", "eslint", {}, []),
    ("eslint-none", "eslint", None, []),
    (
        "make-fail",
        "make",
        None,
        [
            "a.c:2",
            "Makefile:7 bad",
            f"{PROJECT}/s/b.c:2",
            f"{PROJECT}/s/Makefile:4 quiet",
            "",
        ],
    ),
    (
        "make-fail",
        "makecheck",
        {"errors": 5, "notes": 2},
        [
            *("a.c:2", "a.c:2", "Makefile:7 bad"),
            *(f"{PROJECT}/s/b.c:2", f"{PROJECT}/s/b.c:2", f"{PROJECT}/s/Makefile:4 quiet"),
            "",
        ],
    ),
    ("make-syntax", "make", None, ["broken.mk:2"]),
    ("make-syntax", "makecheck", {"errors": 1}, ["broken.mk:2"]),
)


def recorded(name: str) -> str:
    return plain_text((RECORDED / f"{name}.txt").read_text(encoding="utf-8"))


def shown(report: Report) -> list[str]:
    return [
        " ".join(part for part in (f"{one.file}:{one.line}" if one.line else one.file, one.test) if part)
        for one in report.failures
    ]


@pytest.mark.parametrize(("name", "parser", "counts", "failures"), ROWS, ids=[f"{row[0]}-{row[1]}" for row in ROWS])
def test_recorded(name: str, parser: str, counts: dict[str, int] | None, failures: list[str]) -> None:
    report = PARSERS[parser](recorded(name))
    assert report.understood is (counts is not None)
    assert dict(report.counts) == (counts or {})
    assert shown(report) == failures
    assert all(failure.message for failure in report.failures)


def test_messages_say_what_is_wrong() -> None:
    table = {
        ("pytest-fail", "pytest"): "AssertionError: lists differ\nassert [1, 2, 3] == [1, 2, 4]",
        ("unittest-fail", "unittest"): "ModuleNotFoundError: No module named 'nowhere_module'",
        ("vitest-fail", "vitest"): "Cannot find module './nowhere' imported from",
        (
            "jest-fail",
            "jest",
        ): "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 2",
        ("node-tap", "node"): "2 == 3",
        ("node-spec", "node"): "AssertionError [ERR_ASSERTION]: 2 == 3",
        ("cargo-fail", "cargo"): "assertion `left == right` failed: sum is wrong\n  left: 2\n right: 3",
        ("cargo-compile", "cargo"): "mismatched types\nexpected `i32`, found `&str`",
        ("go-tests", "go"): "calc_test.go:9: Add = 2, want 3\nsecond",
        ("mypy-fail", "mypy"): 'Incompatible return value type (got "int", expected "str")',
        ("tsc-fail", "tsc"): "Type 'string' is not assignable to type 'number'.",
    }
    with cases() as case:
        for (name, parser), message in table.items():
            with case(name):
                assert PARSERS[parser](recorded(name)).failures[0].message.startswith(message)


def test_colours_and_processes_of_xdist_make_no_difference() -> None:
    plain = pytest_text.parse(recorded("pytest-fail"))
    for name in ("pytest-colour", "pytest-xdist"):
        other = pytest_text.parse(recorded(name))
        assert (sorted(shown(other)), other.counts) == (sorted(shown(plain)), plain.counts)


def test_crlf_and_windows_paths() -> None:
    text = recorded("pytest-fail").replace("tests/test_a.py:", "tests\\test_a.py:").replace("\n", "\r\n")
    found = pytest_text.parse(plain_text(text))
    assert shown(found)[0] == "tests\\test_a.py:12 test_bad"
    rows = {
        r"C:\me\a.ts(1,7): error TS2322: no": (r"C:\me\a.ts", 1, 7, "TS2322", "error", "no"),
        r"C:\me\a b.c:3:5: warning: odd [-Wodd]": (r"C:\me\a b.c", 3, 5, "", "warning", "odd [-Wodd]"),
        "a.c:3:5: fatal error: x.h: No such file": ("a.c", 3, 5, "", "error", "x.h: No such file"),
        "a.py:3: note: See here": ("a.py", 3, None, "", "note", "See here"),
        "vet: bad/bad.go:3:23: cannot use": ("bad/bad.go", 3, 23, "", "error", "cannot use"),
    }
    for line, expected in rows.items():
        failure = located.failure_in(line)
        assert failure is not None, line
        found_parts = (failure.file, failure.line, failure.column, failure.test, failure.severity, failure.message)
        assert found_parts == expected
    unittest = recorded("unittest-fail").replace("/home/me/project/", "C:\\me\\")
    assert shown(unittest_text.parse(unittest))[1] == "C:\\me\\test_u.py:6 test_u.T.test_err"
    file = "C:\\me\\sum.test.js"
    stack = "Error: no\n    at Object.x (C:\\me\\sum.test.js:3:5)"
    test = {"status": "failed", "fullName": "sums", "failureMessages": [stack]}
    jest = {"numFailedTests": 1, "testResults": [{"name": file, "status": "failed", "assertionResults": [test]}]}
    assert shown(jest_json.parse(json.dumps(jest, separators=(",", ":")))) == [f"{file}:3 sums"]


@pytest.mark.parametrize(
    "line", ["12:30:01: started", "http://localhost:80: up", "", "x" * 10_000, "a (1, 2): b", "::: x"]
)
def test_no_place_is_seen_in_these(line: str) -> None:
    assert located.failure_in(line) is None


def test_what_tests_print_between_the_lines_is_not_taken_for_failures() -> None:
    noise = "FAILED tests/fake.py::x - no\n____ fake ____\nE   fake\n=== 9 failed in 1.00s ===\n"
    text = recorded("pytest-fail").replace("noise ____ x ____\n", noise)
    found = pytest_text.parse(text)
    assert "fake" not in str(found.failures)
    assert found.counts["failed"] == 3
    assert [failure.line for failure in found.failures] == [12, 4, 4, 24]
    json_noise = recorded("jest-fail").replace("noise {", '{"numTotalTests": broken {', 1)
    assert len(jest_json.parse(json_noise).failures) == 3
    ruff = f"[not json]\n{recorded('ruff-fail')}\nand more\n"
    assert len(lint_json.parse_ruff(ruff).failures) == 5
    cargo = recorded("cargo-fail").replace('{"reason":', 'half a line {"reason":', 1)
    assert len(cargo_json.parse(cargo).failures) == 2


def test_several_runners_in_one_output_are_added() -> None:
    report = any_text.parse("\n".join(recorded(name) for name in ("pytest-fail", "cargo-fail", "node-spec")))
    assert report.counts == {"failed": 7, "passed": 4, "skipped": 3, "xfailed": 1, "errors": 1}
    assert len(report.failures) == 8


def test_ten_thousand_failures() -> None:
    many = range(10_000)
    sections = "".join(f"___ test_x[{n}] ___\nt.py:{n + 1}: in test_x\n    assert 0\nE   assert {n}\n" for n in many)
    listed = "".join(f"FAILED t.py::test_x[{n}] - assert {n}\n" for n in many)
    text = f"=== FAILURES ===\n{sections}=== short test summary info ===\n{listed}=== 10000 failed in 9.99s ===\n"
    report = pytest_text.parse(text)
    assert len(report.failures) == report.counts["failed"] == 10_000
    assert shown(report)[-1] == "t.py:10000 test_x[9999]"
    tests = [{"status": "failed", "fullName": f"t {n}", "failureMessages": ["x" * 400]} for n in many]
    jest = {"numFailedTests": 10_000, "testResults": [{"name": "/t.js", "status": "failed", "assertionResults": tests}]}
    assert len(jest_json.parse(json.dumps(jest, separators=(",", ":"))).failures) == 10_000


def test_a_message_has_an_end() -> None:
    text = recorded("pytest-fail").replace("E   ValueError: no 1\n", f"E   {'long ' * 1000}\n")
    assert max(len(failure.message) for failure in pytest_text.parse(text).failures) <= LONGEST_MESSAGE + len(" [cut]")


@pytest.mark.property
def test_cut_anywhere_it_is_never_understood_as_more_than_it_says() -> None:
    """Half an output: no parser raises, none finds more failures, and none is sure without the end of the run."""
    with cases() as case:
        for name, parser, counts, failures in ROWS:
            text = recorded(name)
            parse = PARSERS[parser]
            for end in range(0, len(text), max(1, len(text) // 20)):
                with case(f"{name} at {end}"):
                    report = parse(text[:end])
                    assert len(report.failures) <= len(failures) + 1
                    if counts is None:
                        assert not report.understood
                    parse(text[end:])


@pytest.mark.parametrize(
    "line", ["[", '{"num', '{"file"', '{"reason":', '{"Action":', "not ok 1 - x", "  ● x", "= ERRORS ="]
)
def test_many_lines_that_only_look_like_it_are_read_in_linear_time(line: str) -> None:
    """Quadratic time would be seconds for each parser."""
    for parser in PARSERS.values():
        parser(f"{line}\n" * 10_000)


@given(st.text(st.characters(codec="utf-8"), max_size=400), st.sampled_from(sorted(PARSERS)))
def test_no_text_breaks_a_parser(text: str, parser: str) -> None:
    report = PARSERS[parser](text)
    assert report.ran == 0 or re.search(r"\d", text)
