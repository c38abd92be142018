"""Problems of a review follow their lines, and are gone when these change."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.review.problems import Problems
from tark_lsp.tools.problem import Problem
from tark_lsp.workspace.documents import ContentChange, Documents
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers

ROOT = Path("/project")
PATH = ROOT / "a.py"
LINES = [f"line {n}" for n in range(12)]
CHANGES = st.tuples(
    st.integers(0, 12),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["", "x", "\n", "a\nb\n"]),
)


def opened(*problems: tuple[int, int]) -> tuple[Documents, Problems]:
    """`problems`: the first line of each, and how many it has."""
    documents = Documents("utf-32", clock=lambda: 0.0)
    found = Problems(documents, Workspace([ROOT], MemoryBuffers()).read)
    documents.open_document(PATH.as_uri(), "python", 0, "\n".join(LINES))
    for start, size in problems:
        found.add(Problem(PATH, start, tuple(LINES[start : start + size]), 2, f"at {start}"))
    return documents, found


def change(documents: Documents, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
    documents.change_document(PATH.as_uri(), 1, [ContentChange(text, start, end)])


def places(problems: Problems) -> list[tuple[int, int]]:
    return [(problem.start, problem.end) for problem in problems.find_problems(PATH)]


@given(st.lists(CHANGES, max_size=8))
def test_a_problem_that_is_left_has_its_lines(changes: list[tuple[int, int, int, int, str]]) -> None:
    documents, problems = opened((0, 1), (4, 2), (11, 1))
    document = documents.at(PATH)
    assert document is not None
    for line, height, first, last, text in changes:
        line = min(line, len(document.lines) - 1)
        below = min(line + height, len(document.lines) - 1)
        change(documents, (line, first), (below, max(first, last)), text)
        for problem in problems.find_problems(PATH):
            assert tuple(one.rstrip("\n") for one in document.lines[problem.start : problem.end]) == problem.lines


def test_what_moves_it_and_what_removes_it() -> None:
    documents, problems = opened((4, 2))
    change(documents, (0, 0), (0, 0), "above\n")
    assert places(problems) == [(5, 7)]
    change(documents, (4, 6), (4, 6), "\nright above")
    assert places(problems) == [(6, 8)]
    change(documents, (7, 6), (7, 6), "\nright below")
    assert places(problems) == [(6, 8)]
    change(documents, (0, 0), (2, 0), "")
    assert places(problems) == [(4, 6)]
    change(documents, (4, 0), (4, 0), "x")
    assert places(problems) == []


def test_a_whole_new_text_keeps_the_lines_that_stay() -> None:
    documents, problems = opened((2, 1), (4, 2))
    text = "\n".join(["first", *LINES[:4], "other", *LINES[5:]])
    documents.change_document(PATH.as_uri(), 1, [ContentChange(text)])
    assert places(problems) == [(3, 4)]


def test_the_listener_hears_of_changes_only() -> None:
    documents, problems = opened((4, 1))
    heard: list[Path] = []
    problems.listen(heard.append)
    change(documents, (8, 0), (8, 0), "x")
    assert heard == []
    change(documents, (0, 0), (0, 0), "\n")
    problems.add(problems.find_problems()[0])
    assert len(problems.find_problems()) == 1, "the same again is the same"
    problems.clear()
    problems.clear()
    assert heard == [PATH] * 3
