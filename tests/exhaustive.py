"""What a run leaves out: tests marked `exhaustive` run only if `-m` names the marker. Seeds are random only then, too.

A marker expression in pytest's `addopts` would be lost as soon as a run has a `-m` of its own, so a hook of
tests/conftest.py asks here instead. `uv run pytest -m exhaustive` runs the marked tests, and every property again with
random seeds and ten times the examples. A property is a test of Hypothesis, or one marked `property`.
"""

import os
import re
import secrets

import pytest
from hypothesis import is_hypothesis_test, settings

MARKER = "exhaustive"
MORE = 10
"""An exhaustive run tries this many times the examples of a push."""
FIRST_SEED = "TARK_TEST_FIRST_SEED"
"""The environment variable with the first seed of an exhaustive run. All processes of a run inherit it, since they must
collect the same tests. Set it to repeat a run."""

_is_exhaustive = False
_first_seed = 0


def configure(config: pytest.Config) -> None:
    """Call this before test modules are imported: `@settings` and `examples` read it there."""
    global _is_exhaustive, _first_seed
    _is_exhaustive = is_named(config.getoption("markexpr", ""))
    if _is_exhaustive:
        _first_seed = int(os.environ.setdefault(FIRST_SEED, str(secrets.randbelow(1 << 32))))
    # No deadline: a slow machine is not a failure. The same seed for every push: a failure is there again tomorrow.
    settings.register_profile("push", deadline=None, derandomize=True, database=None)
    settings.register_profile(MARKER, deadline=None, max_examples=examples(100), print_blob=True)
    settings.load_profile(MARKER if _is_exhaustive else "push")


def repeated_by() -> str | None:
    """What repeats this run, for the head of an exhaustive one."""
    return f"repeat with {FIRST_SEED}={_first_seed}" if _is_exhaustive else None


def is_exhaustive() -> bool:
    """Is this an exhaustive run?"""
    return _is_exhaustive


def examples(push: int) -> int:
    """How many examples, seeds or interleavings a test tries: `push` of them, or more in an exhaustive run."""
    return push * MORE if _is_exhaustive else push


def seeds(push: int) -> range:
    """Seeds for so many random examples: the same ones in every push, new ones in an exhaustive run."""
    return range(_first_seed, _first_seed + examples(push))


def is_named(marker_expression: str) -> bool:
    """Does the expression of `-m` mention the marker?"""
    return re.search(rf"\b{MARKER}\b", marker_expression) is not None


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the marked tests out of `items`. An exhaustive run keeps them, and takes every property as one of them."""
    if _is_exhaustive:
        for item in items:
            if item.get_closest_marker("property") or is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(MARKER)
        return
    left_out = [item for item in items if item.get_closest_marker(MARKER)]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker(MARKER)]
        config.hook.pytest_deselected(items=left_out)
