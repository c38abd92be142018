"""Reads the staged changes of a repository and the subjects of its last commits. Git executes nothing from it.

There is no question: the user's command is the permission. The caller decides which texts can be shown.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tark_lsp.errors import ToolError
from tark_lsp.tools.git import DIFF, SETTINGS, git_argv, git_environment, repository_of, run_git, without_filters
from tark_lsp.tools.git_diff import files_of
from tark_lsp.tools.git_places import git_folders_outside
from tark_lsp.workspace.programs import find_program

STAGED = (*DIFF, "--cached", "--find-renames")
SUBJECTS = ("rev-list", "--max-count=10", "--format=%s", "HEAD")
"""Not `git log`, because `log.showSignature` makes it run a program that the repository names."""
KINDS: Mapping[str, Literal["added", "modified", "deleted", "renamed"]] = {"A": "added", "D": "deleted", "R": "renamed"}
SECONDS = 60.0
UNKNOWN = "\ufffd"
"""Replaces bytes that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """`path`, `previous_path` (of a renamed file): relative to the repository. `diff`: None if git shows no text."""

    path: str
    previous_path: str | None
    change: Literal["added", "modified", "deleted", "renamed"]
    diff: str | None


@dataclass(frozen=True, slots=True)
class StagedChanges:
    repository: Path
    files: Sequence[StagedFile]
    subjects: Sequence[str]


async def read_staged(folder: Path, workspace: Sequence[Path], index: str | None = None) -> StagedChanges:
    """Read the repository that contains `folder`. Raises ToolError.

    `index`: the name of another index file in the git folder, which `git commit -a` creates.
    """
    repository = repository_of(folder.resolve())
    if repository is None:
        raise ToolError("unsupported", f"{folder} is not in a git repository")
    for place in git_folders_outside(repository):
        if not any(place.is_relative_to(one) for one in workspace):
            raise ToolError("unsupported", f"the repository reads {place}, which is outside the workspace")
    program = find_program("git", (repository, *workspace))
    if program is None:
        raise ToolError("unsupported", "git is not installed")
    try:
        async with asyncio.timeout(SECONDS):
            return await _read(program, repository, index)
    except TimeoutError as error:
        raise ToolError("internal", f"git did not end within {SECONDS:g} s") from error


async def _read(program: Path, repository: Path, index: str | None) -> StagedChanges:
    env: Mapping[str, str] = git_environment(os.environ, f"TARK_COMMAND={os.getpid()}-commit")
    env = await without_filters(git_argv(program, repository, SETTINGS), repository, env)
    if index is not None:
        git_folder = await _output(program, repository, env, "rev-parse", "--absolute-git-dir")
        env = {**env, "GIT_INDEX_FILE": str(Path(git_folder.rstrip("\n")) / index)}
    listed = await _output(program, repository, env, *STAGED, "--name-status", "-z")
    diffs = _diffs(await _output(program, repository, env, *STAGED))
    try:
        subjects = (await _output(program, repository, env, *SUBJECTS)).split("\n")
    except ToolError:  # there is no commit yet
        subjects = []
    return StagedChanges(repository, list(_files(listed, diffs)), subjects[1::2])  # each follows its hash


async def _output(program: Path, repository: Path, env: Mapping[str, str], *arguments: str) -> str:
    made = await run_git(git_argv(program, repository, arguments), repository, env)
    return made.data.decode("utf-8", "replace")


def _diffs(printed: str) -> dict[frozenset[str], str]:
    """The diffs by their names. A diff without names has no text: a binary file, or only a changed mode."""
    result: dict[frozenset[str], str] = {}
    for file in files_of(printed):
        if file.names:
            result[file.names] = result.get(file.names, "") + file.text  # two parts if a file became a link
    return result


def _files(listed: str, diffs: Mapping[frozenset[str], str]) -> Iterator[StagedFile]:
    """`listed`: the output of `--name-status -z`."""
    fields = iter(listed.split("\0"))
    for status in fields:
        if status:
            change = KINDS.get(status[0], "modified")
            previous = next(fields) if change == "renamed" else None
            path = next(fields)
            names = frozenset({path} if previous is None else {path, previous})
            known = not any(UNKNOWN in name for name in names)  # else rules cannot be applied to it
            yield StagedFile(path, previous, change, diffs.get(names) if known else None)
