"""`Runner`: one test runner or checker. Each is a row of data in the module of its ecosystem."""

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
    """Where a program is searched. PATH is always searched last."""

    PATH = ""
    VENV = ".venv/bin venv/bin"
    NODE = "node_modules/.bin"


@dataclass(frozen=True, slots=True)
class Runner:
    """How a runner is detected, what is run, how a target is added, and how its output is parsed.

    - `marks`: a folder with one of these uses the runner.
    - `guesses`: if no folder has a mark, a folder with one of these uses the runner.
    - `program`: names of the program. The first one that is found is run with `words`.
    - `whole`: words that are added without a target.
    - `folder`, `file`, `named`, `in_file`, `in_folder`: words that are added for a folder, a file, a name, or a name in
      a file or folder. None: not supported. `{path}` is relative to the folder where the runner runs, `{parent}` is the
      folder of a file or the folder itself, `{name}` is the name.
    - `suffixes`: the files that the runner is for; empty: all.
    - `names`: the names that the runner knows; None: any.
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
