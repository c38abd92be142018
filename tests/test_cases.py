"""The tests' own tools: many cases in one test, and which tests a run takes."""

import pytest

from tests.cases import cases, every

pytest_plugins = ["pytester"]


def test_each_failure_is_named() -> None:
    @every("number", (1, 2, 3), lambda number: f"number {number}")
    def only_two(number: int) -> None:
        assert number == 2

    with pytest.raises(ExceptionGroup, match="2 of 3 cases failed") as caught:
        only_two()
    assert [error.__notes__ for error in caught.value.exceptions] == [["case: number 1"], ["case: number 3"]]


def test_no_case_is_a_failure() -> None:
    with pytest.raises(AssertionError, match="no cases"), cases():
        pass


def test_only_a_test_whose_cases_all_skip_is_skipped() -> None:
    @every("number", (1, 2))
    def skips_from(number: int, first: int) -> None:
        if number >= first:
            pytest.skip("not here")

    skips_from(first=2)
    with pytest.raises(pytest.skip.Exception, match="1: not here"):
        skips_from(first=1)


SEEN: list[tuple[int, object]] = []


@every("number", [1, 2, 3])
def test_fixtures_come_beside_the_case(number: int, tmp_path: object) -> None:
    SEEN.append((number, tmp_path))
    assert len({path for _, path in SEEN}) == 1
    assert [seen for seen, _ in SEEN] == [1, 2, 3][: len(SEEN)]


TESTS = """
    import pytest
    from hypothesis import given, strategies

    def test_plain(): pass
    @pytest.mark.slow
    def test_slow(): pass
    @pytest.mark.exhaustive
    def test_exhaustive(): pass
    @given(strategies.none())
    def test_given(nothing): pass
    @pytest.mark.property
    def test_property(): pass
"""


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("", ["plain", "slow", "given", "property"]),
        ("not editor and not slow", ["plain", "given", "property"]),
        ("exhaustive", ["exhaustive", "given", "property"]),
    ],
)
@pytest.mark.slow  # it starts pytest
def test_what_runs(pytester: pytest.Pytester, expression: str, chosen: list[str]) -> None:
    """`uv run pytest`, the quick run, and the exhaustive one."""
    pytester.makeconftest("from tests.conftest import *")
    pytester.makeini("[pytest]\nmarkers = slow\n  editor\n  exhaustive\n  property")
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v", *(["-m", expression] if expression else []))
    done.assert_outcomes(passed=len(chosen), deselected=5 - len(chosen))
    for name in chosen:
        done.stdout.fnmatch_lines([f"*::test_{name} PASSED*"])


@pytest.mark.slow  # it starts pytest
def test_all_processes_of_an_exhaustive_run_have_the_same_seeds(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import *")
    pytester.makeini("[pytest]\nmarkers = exhaustive\n  property")
    pytester.makepyfile("""
        import pytest
        from tests.exhaustive import seeds

        @pytest.mark.property
        @pytest.mark.parametrize("seed", seeds(1))
        def test_it(seed): pass
    """)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-m", "exhaustive", "--numprocesses=2")
    done.assert_outcomes(passed=10)
