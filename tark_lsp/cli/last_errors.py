"""Runs a subcommand. What can go wrong in every one ends with a sentence: no current folder, an output that fails."""

import os
import sys
from collections.abc import Callable, Sequence

from tark_lsp.cli.discard import discard

NOT_DONE, USAGE, CLOSED = 1, 2, 141


def run_to_end(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Returns the exit code of `main(arguments)`, or that of an error which it did not handle."""
    if sys.stdin is None:  # started with <&-
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123  it stays open
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123  it stays open
    if sys.stdout is None:
        return _fail("standard output is closed: redirect it to /dev/null if you do not need it", USAGE)
    try:
        os.getcwd()  # noqa: PTH109  its errors are wanted, not a path
    except OSError as error:
        return _fail(f"the current folder cannot be used ({error.strerror}): cd to another one", USAGE)
    try:
        code = main(arguments)
        sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return CLOSED
        return _fail(f"{error.filename or 'the output'}: {error.strerror or error}", NOT_DONE)
    return code


def _fail(message: str, code: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return code
