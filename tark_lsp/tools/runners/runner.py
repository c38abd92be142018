"""Runner: one test runner or checker. Each is a row of data in the file of its ecosystem."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import TypeAlias

from tark_lsp.tools.runners.project import Mark, Project
from tark_lsp.tools.runners.report import Parser

Words: TypeAlias = tuple[str, ...]
Default: TypeAlias = Callable[[Project], "Words | None"]


class Purpose(StrEnum):
    TEST = "run_tests"
    CHECK = "run_check"


class Where(StrEnum):
    """Where a program can come from. PATH is always searched last."""

    PATH = ""
    VENV = ".venv/bin venv/bin"
    NODE = "node_modules/.bin"


@dataclass(frozen=True, slots=True)
class Runner:
    """How it is recognised, what is run, how a target is added, and how its output is read.

    `marks`: a folder that has one of them uses it. `guesses`: so does a folder with one of these, if no folder has a
    mark. `program`: its names; the first that is found is run, with `words`.

    What is added to the words: `whole` without a target; `folder`, `file`, `named` (a name alone), `in_file` and
    `in_folder` (a name there) with one. `{path}` is relative to the folder that it runs in, `{parent}` the folder of a
    file, or the folder itself, `{name}` the name. None: it cannot do that. `suffixes`: of the files that it is about;
    empty: all. `names`: the names that it knows; without it, any.
    """

    name: str
    purpose: Purpose
    marks: Sequence[Mark]
    program: Words
    words: Words
    parse: Parser
    where: Where = Where.PATH
    whole: Words | Default = ()
    folder: Words | None = ("{path}",)
    file: Words | None = ("{path}",)
    named: Words | None = None
    in_file: Words | None = None
    in_folder: Words | None = None
    guesses: Sequence[Mark] = ()
    suffixes: frozenset[str] = frozenset()
    names: Callable[[Project], Sequence[str]] | None = None

    def is_about(self, file: PurePath) -> bool:
        return not self.suffixes or file.suffix in self.suffixes
