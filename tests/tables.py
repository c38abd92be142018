"""A parametrized test of a pure function is one test: its rows are cases (tests/cases.py), and a failure names them.

Each test costs a report through a pipe, setup and teardown, which take longer than a pure function. A test is pure in
this sense if it is not async and asks for nothing but its parameters; a test of Hypothesis is not. If a row has marks
of its own, all rows stay tests.
To run one row, name its id: `uv run pytest 'tests/FILE.py::test_name[id]'`.
"""

from collections.abc import Collection, Sequence
from typing import Any

import pytest
from hypothesis import is_hypothesis_test

from tests.cases import cases

FOR_ALL = frozenset({"no_settings_of_the_user", "event_loop_policy"})
"""Fixtures that every test has: ours, and that of pytest-asyncio."""


def as_one(made: Any, asked: Sequence[str]) -> Any:
    """`made`: what pytest makes of one function in a module. `asked`: the arguments of the command line."""
    if not isinstance(made, list) or any("[" in argument for argument in asked) or not is_table(made):
        return made
    first = made[0]

    def run() -> None:
        with cases() as case:
            for item in made:
                with case(item.callspec.id):
                    item.function(**item.callspec.params)

    run.pytestmark = [mark for mark in first.own_markers if mark.name != "parametrize"]  # type: ignore[attr-defined]  # what pytest reads
    return [pytest.Function.from_parent(first.parent, name=first.originalname, callobj=run)]


def is_table(made: Collection[object]) -> bool:
    return len(made) > 1 and all(type(item) is pytest.Function and _is_row(item) for item in made)


def _is_row(item: pytest.Function) -> bool:
    spec = getattr(item, "callspec", None)
    if spec is None or spec.marks or item.cls is not None or is_hypothesis_test(item.obj):
        return False
    return bool(set(item._fixtureinfo.initialnames) - FOR_ALL == spec.params.keys())
