"""The table of attempts to get out of the sandbox, which on_files.py and on_system.py fill.

Each attempt returns if it succeeded and raises otherwise. Only the standard library, because they run in the sandbox.
"""

import ctypes
from collections.abc import Callable
from types import SimpleNamespace

LIBC = ctypes.CDLL(None, use_errno=True)
Attempt = Callable[[SimpleNamespace], None]
ATTEMPTS: dict[str, Attempt] = {}
ROOT_ONLY: set[str] = set()
"""Attempts that without a sandbox succeed only as root."""


def attempt(function: Attempt) -> Attempt:
    ATTEMPTS[function.__name__] = function
    return function


def for_root(function: Attempt) -> Attempt:
    ROOT_ONLY.add(function.__name__)
    return attempt(function)


def call(name: str, *arguments: object) -> int:
    """Raises OSError."""
    result: int = getattr(LIBC, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
