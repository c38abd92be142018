"""Runs git on a given repository, and disables everything that the repository's settings could make git execute.

Content filters (`filter.*.clean`) have no option to disable them: they are listed, which executes nothing, and each is
set to an empty value. The user is still asked about every call outside of the sandbox. In a workspace that is not
trusted, git does not run at all.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tark_lsp.errors import ToolError
from tark_lsp.tools.confined import run_confined
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.environment import command_environment
from tark_lsp.workspace.processes import run_process

if TYPE_CHECKING:  # imported only with the first command in the sandbox
    from tark_lsp.sandbox.sandbox import Run

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
    "--ignore-submodules=dirty",  # otherwise git runs in every submodule, with the settings of the submodule
    "--submodule=short",
    "--relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
SETTINGS = ("config", "--list", "--name-only", "-z")
FIXED: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches missing objects with a program from its settings
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",  # a committed folder that looks like a repository does not count as one
    "GIT_CONFIG_VALUE_0": "explicit",
    "LC_ALL": "C",
}
NO_FILTER: Mapping[str, str] = {"clean": "", "process": "", "smudge": "", "required": "false"}
REVISION = re.compile(r"(?!.*(?:\.\.|\^[@-]))[\w@][\w./@{}^~+-]*", re.ASCII)
"""A name, a hash, `HEAD~2`, `main@{u}` or `v1.0^{commit}`, but not an option, a path or a range."""
COMMIT = "^{commit}"
"""Appended to revisions. Otherwise the hash of a file or folder would show its text without a name for rules."""

ENV = "/usr/bin/env"
MOST_OUTPUT = 4_000_000
ERROR_BYTES = 8192


@dataclass(frozen=True, slots=True)
class GitOutput:
    """`complete` is False if git was stopped after `MOST_OUTPUT` bytes."""

    data: bytes
    complete: bool


def git_argv(program: Path, repository: Path, arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments name the repository, because git could otherwise find one that is committed inside this one.

    They also override `core.worktree`, which can be any path.
    """
    return (str(program), *OPTIONS, f"--git-dir={repository / '.git'}", f"--work-tree={repository}", *arguments)


def git_environment(environ: Mapping[str, str], marker: str) -> dict[str, str]:
    """The allowed variables of `environ`, which include no GIT_* variables, and the FIXED ones."""
    return {**command_environment(environ, marker), **FIXED}


def repository_of(path: Path) -> Path | None:
    """The nearest folder at or above `path` with a `.git`: a repository, a worktree or a submodule."""
    return next((folder for folder in (path, *path.parents) if os.path.lexists(folder / ".git")), None)


async def without_filters(
    argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], run: "RunGit | None" = None
) -> dict[str, str]:
    """Return `env` with all configured content filters disabled. `argv`: git with `SETTINGS`.

    `run`: how git is run, if not with `run_git`.
    Raises ToolError `unsupported` if git does not read settings from the environment (before version 2.31).
    """
    listed = await (run or run_git)(argv, cwd, env)
    keys = {os.fsdecode(key) for key in listed.data.split(b"\0")}
    if not listed.complete or env["GIT_CONFIG_KEY_0"].lower() not in keys:
        raise ToolError(
            "unsupported",
            "the content filters of this git cannot be switched off",
            hint="do without it: read the files",
        )
    filters = sorted({key.rpartition(".")[0] for key in keys if key.startswith("filter.") and key.count(".") > 1})
    off = [(f"{name}.{key}", value) for name in filters for key, value in NO_FILTER.items()]
    known = int(env["GIT_CONFIG_COUNT"])
    made = {"GIT_CONFIG_COUNT": str(known + len(off))}
    for number, (key, value) in enumerate(off, known):
        made |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**env, **made}


RunGit: TypeAlias = Callable[[tuple[str, ...], Path, Mapping[str, str]], Awaitable[GitOutput]]


async def run_git(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> GitOutput:
    """The output of git. Raises ToolError: `not_found` for an unknown revision, `internal` for other failures."""
    reading = GitReading()
    return reading.output(await reading.start(argv, cwd, env))


@dataclass(slots=True)
class GitReading:
    """Collects the output of one git process."""

    printed: bytearray = field(default_factory=bytearray)
    problem: bytearray = field(default_factory=bytearray)

    async def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> int | None:
        """Return the exit code; None if git was stopped because of too much output. Raises ToolError `internal`."""

        def keep(data: bytes) -> bool:
            self.printed.extend(data)
            return len(self.printed) <= MOST_OUTPUT

        def keep_problem(data: bytes) -> bool:
            self.problem.extend(data[: ERROR_BYTES - len(self.problem)])
            return True

        marker = f"TARK_COMMAND={env['TARK_COMMAND']}"
        try:
            return await run_process(argv, cwd=cwd, env=env, on_stdout=keep, on_stderr=keep_problem, marker=marker)
        except OSError as error:
            raise ToolError("internal", f"git could not be started: {error}") from error

    def output(self, code: int | None) -> GitOutput:
        """Raises the ToolErrors of `run_git`."""
        if not code:
            return GitOutput(bytes(self.printed), code is not None)
        said = self.problem.decode("utf-8", "replace").strip()
        unknown = re.search(r"(?:bad revision|ambiguous argument|bad object|unknown revision) '?([^'\s]*)", said)
        if unknown:
            raise ToolError(
                "not_found",
                f"there is no revision {unknown[1].removesuffix(COMMIT)} in this repository",
                hint="give a branch, a tag or the hash of a commit; HEAD exists after the first commit",
            )
        raise ToolError("internal", f"git failed: {said or f'exit code {code}'}", hint="try run_command")


async def run_git_confined(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], ctx: ToolContext) -> GitOutput:
    """Like `run_git`, in a sandbox that cannot write to the workspace. Also raises ToolError if it cannot be set up."""
    reading = GitReading()
    # The sandbox removes git's variables from the environment, so pass Tark's own ones with `env`.
    own = [f"{name}={value}" for name, value in env.items() if name.startswith("GIT_")]
    code: int | None = None

    async def start(run: "Run") -> int | None:
        nonlocal reading, code
        reading = GitReading()
        code = await reading.start(run.argv, run.cwd, {**run.env, "TARK_COMMAND": env["TARK_COMMAND"]})
        return code

    await run_confined((ENV, *own, *argv), cwd, env, start, ctx, read_only=True)
    return reading.output(code)
