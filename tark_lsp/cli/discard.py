"""Discards an output that cannot be written any more."""

import contextlib
import os


def discard(descriptor: int) -> None:
    """Discards what is written to the descriptor from now on. Python writes what is left at its exit."""
    with contextlib.suppress(OSError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, descriptor)
        os.close(nothing)
