"""A profile for `sandbox-exec` on macOS. Untested: it only hardens, and the user is still asked about each command."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tark_lsp.sandbox.covers import COVERED
from tark_lsp.sandbox.plan import SandboxPlan

PROGRAM = "/usr/bin/sandbox-exec"
TEMPORARY = ("/private/tmp", "/private/var/folders", "/dev")


def wrap_on_macos(plan: SandboxPlan, argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments that run `argv` with a profile from the plan. The caller sets the environment variables."""
    return (PROGRAM, "-p", profile_of(plan), *argv)


def profile_of(plan: SandboxPlan) -> str:
    """The profile in SBPL. The last matching rule counts."""
    return "\n".join(("(version 1)", "(allow default)", *_rules(plan)))


def _rules(plan: SandboxPlan) -> Iterator[str]:
    yield "(deny file-write*)"
    for folder in (*TEMPORARY, *map(str, plan.writable)):
        yield f"(allow file-write* (subpath {_quoted(folder)}))"
    names = [folder / name for folder in plan.workspace for name in COVERED]
    for path in (*plan.read_only_paths, *names):
        if path not in plan.needs.writable:
            yield f"(deny file-write* (subpath {_quoted(path)}))"
    yield f"(deny file-read* (subpath {_quoted(plan.home)}))"
    for path in (*plan.readable, *plan.workspace, *plan.needs.readable, *plan.writable):
        yield f"(allow file-read* (subpath {_quoted(path)}))"
    for path in (*plan.masked_folders, *plan.masked_files):
        yield f"(deny file-read* (subpath {_quoted(path)}))"
    if not plan.needs.network:
        yield "(deny network*)"


def _quoted(path: Path | str) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
