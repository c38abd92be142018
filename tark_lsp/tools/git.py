"""How git is run: what the repository's settings would have it execute is off, as far as git lets it be.

What is left are the content filters (`filter.*.clean`) of a repository's own `.git/config`, which git has no switch
for: so every call is asked about, and none is made in a workspace that is not trusted.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import ToolError
from tark_lsp.tools.environment import command_environment
from tark_lsp.tools.processes import run_process

OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "diff.external="),
    *("-c", "core.quotePath=false"),
)
DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",  # else git runs in each submodule, by the settings of that
    "--submodule=short",
    "--relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
FIXED: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches what it lacks, by a program its settings name
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
REVISION = re.compile(r"(?!.*\.\.)[\w@][\w./@{}^~+-]*", re.ASCII)
"""A name, a hash, `HEAD~2`, `main@{u}`, `v1.0^{commit}`: no option, no range, no path."""

MOST_OUTPUT = 4_000_000
ERROR_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Output:
    """`complete` is False where git was ended after `MOST_OUTPUT` bytes."""

    data: bytes
    complete: bool


def git_argv(program: Path, repository: Path, arguments: Sequence[str], name: str) -> tuple[str, ...]:
    """`name`: the one file or folder, from where git runs. `core.worktree` does not count: it may lead anywhere."""
    return (str(program), *OPTIONS, f"--work-tree={repository}", *arguments, "--", name)


def git_environment(environ: Mapping[str, str], marker: str) -> dict[str, str]:
    """What of `environ` a command may see, in which there is no GIT_* but ours."""
    return {**command_environment(environ, marker), **FIXED}


def repository_of(path: Path) -> Path | None:
    """The folder with the `.git` that rules at `path`, be it that of a repository, a worktree or a submodule."""
    return next((folder for folder in (path, *path.parents) if os.path.lexists(folder / ".git")), None)


async def run_git(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> Output:
    """What it printed. Raises ToolError `not_found` for a revision there is not, `internal` for other failures."""
    printed, problem = bytearray(), bytearray()

    def keep(data: bytes) -> bool:
        printed.extend(data)
        return len(printed) <= MOST_OUTPUT

    def keep_problem(data: bytes) -> bool:
        problem.extend(data[: ERROR_BYTES - len(problem)])
        return True

    marker = f"TARK_COMMAND={env['TARK_COMMAND']}"
    try:
        code = await run_process(argv, cwd=cwd, env=env, on_stdout=keep, on_stderr=keep_problem, marker=marker)
    except OSError as error:
        raise ToolError("internal", f"git could not be started: {error}") from error
    if code:
        said = problem.decode("utf-8", "replace").strip()
        unknown = re.search(r"(?:bad revision|ambiguous argument|bad object|unknown revision) '?([^'\s]*)", said)
        if unknown:
            raise ToolError(
                "not_found",
                f"there is no revision {unknown[1]} in this repository",
                hint="give a branch, a tag or a hash; HEAD is there from the first commit on",
            )
        raise ToolError("internal", f"git failed: {said or f'exit code {code}'}", hint="try run_command")
    return Output(bytes(printed), code is not None)
