"""Which layers in addition to bubblewrap this machine has."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.sandbox.launcher import FIRST_WITH_REFER, FIRST_WITH_SCOPES, landlock_version
from tark_lsp.sandbox.plan import Launch
from tark_lsp.sandbox.planning import launcher_script
from tark_lsp.sandbox.program import find_python
from tark_lsp.sandbox.syscalls import filter_for

SECCOMP = Path("/proc/sys/kernel/seccomp/actions_avail")


def make_launch(folders: Sequence[Path], *, ptrace: bool = False) -> Launch | None:
    """The second layer as far as this machine supports it; None without a Python outside the workspace."""
    python = find_python(folders)
    script = launcher_script()
    if python is None or any(script.is_relative_to(folder) for folder in folders):
        return None
    instructions = filter_for(ptrace=ptrace) if os.access(SECCOMP, os.R_OK) else b""
    version = landlock_version()
    return Launch(python, script, version if version >= FIRST_WITH_REFER else 0, instructions)


def describe(launch: Launch | None) -> tuple[str, ...]:
    """One line for each layer, for the user: what it is, or why it is missing."""
    if launch is None:
        return ("no Landlock, seccomp and limits: the only Python or the program itself is in the workspace",)
    if launch.landlock >= FIRST_WITH_SCOPES:
        landlock = f"Landlock {launch.landlock}: writes, abstract sockets, signals"
    elif launch.landlock:
        landlock = f"Landlock {launch.landlock}: writes (abstract sockets and signals need version {FIRST_WITH_SCOPES})"
    else:
        landlock = "no Landlock: this kernel has none, or an old one"
    if launch.filter:
        seccomp = f"seccomp: {len(launch.filter) // 8} instructions"
    else:
        seccomp = f"no seccomp: there is no table for {platform.machine()}, or this kernel has none"
    return (landlock, seccomp, "limits: memory, processes, file size")
