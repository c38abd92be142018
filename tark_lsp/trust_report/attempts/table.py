"""The table of attempts to escape from the sandbox, which on_files.py and on_system.py fill.

An attempt returns if it succeeded, else it raises. It can use only the standard library, because it runs in the
sandbox.
"""

import ctypes
from collections.abc import Callable
from types import SimpleNamespace

LIBC = ctypes.CDLL(None, use_errno=True)
Attempt = Callable[[SimpleNamespace], None]
ATTEMPTS: dict[str, Attempt] = {}
ROOT_ONLY: set[str] = set()
"""Attempts that succeed only as root when there is no sandbox."""


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
