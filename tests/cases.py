"""One test for many cases: a corpus of a thousand texts is one line of a report, and a failure names its cases."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def cases() -> Iterator[Callable[[object], Any]]:
    """Gives `case(name)`, a context manager for one case. At the end all failures are reported together, with names.

    A case that skips is left out; if all cases skip, the test skips. A test without a case fails.
    """
    failures: list[Exception] = []
    skipped: list[str] = []
    count = 0

    @contextmanager
    def case(name: object) -> Iterator[None]:
        nonlocal count
        count += 1
        try:
            yield
        except pytest.skip.Exception as reason:
            skipped.append(f"{name}: {reason}")
        except Exception as error:  # noqa: BLE001  it is raised below, together with the others
            error.add_note(f"case: {name}")
            failures.append(error)

    yield case
    assert count, "this test has no cases"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {count} cases failed", failures)
    if len(skipped) == count:
        pytest.skip(skipped[0])


def every(argument: str, values: Iterable[Any], name_of: Callable[[Any], object] = str) -> Callable[[Any], Any]:
    """A decorator: the test is called once for each value, as its `argument`, and is one test all the same."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            with cases() as case:
                for value in values:
                    with case(name_of(value)):
                        test(**fixtures, **{argument: value})

        # pytest takes every argument that it sees for a fixture.
        signature = inspect.signature(test)
        rest = [parameter for parameter in signature.parameters.values() if parameter.name != argument]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # what inspect looks at first
        return run

    return decorate
