"""All runners, in the order in which they are chosen: the one with the most detailed results first, make last."""

from collections.abc import Sequence
from functools import cache

from tark_lsp.tools.runners import golang, javascript, make, python, rust
from tark_lsp.tools.runners.runner import Purpose, Runner

RUNNERS = (*python.RUNNERS, *javascript.RUNNERS, *rust.RUNNERS, *golang.RUNNERS, *make.RUNNERS)


@cache
def runners_for(purpose: Purpose) -> Sequence[Runner]:
    return tuple(runner for runner in RUNNERS if runner.purpose is purpose)
