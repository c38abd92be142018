"""Builds the command line of bubblewrap for a plan. Pure: the same plan gives the same arguments."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tark_lsp.sandbox.plan import SandboxPlan

NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
ENDING = ("--die-with-parent", "--new-session")
"""No process outlives the server, and a command cannot type into the server's terminal (TIOCSTI)."""

KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "pressure")
"""Paths in /proc. Even without capabilities, root can write to them as the owner of the files (`core_pattern`)."""

SYSTEM = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *(part for name in KERNEL_SETTINGS for part in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")),
)
"""The order is important: later arguments are mounted over earlier ones."""

PRIVATE_TEMPORARY = ("/tmp", "/var/tmp", "/run")
"""Sockets of the system are in /run, those of programs in /tmp. /dev/shm is private, too, because /dev is."""

WITH_INFO = 'exec "$@" 9>"$0"'
"""A shell opens the file, so that the caller does not need to pass a handle."""

HOSTNAME = "sandbox"


def wrap(plan: SandboxPlan, bubblewrap: Path, argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments that run `argv` as planned. The first one is bubblewrap, or a shell that executes it."""
    return (
        *(() if plan.info is None else ("/bin/sh", "-c", WITH_INFO, str(plan.info))),
        str(bubblewrap),
        *(() if plan.info is None else ("--json-status-fd", "9")),
        *NAMESPACES,
        *(() if plan.needs.network else ("--unshare-net",)),
        *("--hostname", HOSTNAME, *ENDING, "--cap-drop", "ALL"),
        *SYSTEM,
        *_mounts(plan),
        *_environment(plan),
        *("--chdir", str(plan.cwd), "--"),
        *_launcher(plan),
        *argv,
    )


def _mounts(plan: SandboxPlan) -> Iterator[str]:
    for emptied in (*PRIVATE_TEMPORARY, *map(str, plan.emptied), str(plan.home)):
        yield from ("--tmpfs", emptied)
    for path in _parents_first(plan.readable):
        yield from _bind("--ro-bind", path)
    for folder in _parents_first(plan.workspace):
        yield from _bind("--ro-bind" if plan.needs.read_only else "--bind", folder)
    if plan.caches is not None:
        yield from _bind("--bind", plan.caches)
    for outside, inside in plan.seeds:
        yield from ("--ro-bind", str(outside), str(inside))
    for path in _parents_first(plan.read_only_paths):
        yield from _bind("--ro-bind", path)
    for path in _parents_first(plan.covers):
        yield from _bind("--ro-bind", path)  # the empty folder itself
    for path in _parents_first(plan.needs.readable):
        yield from _bind("--ro-bind", path)
    for path in _parents_first(plan.needs.writable):
        yield from _bind("--bind", path)
    # Last, so that no requested path makes a key readable.
    for path in _parents_first(plan.masked_folders):
        yield from ("--perms", "0000", "--tmpfs", str(path), "--remount-ro", str(path))
    for path in plan.masked_files:
        yield from ("--ro-bind", "/dev/null", str(path))  # a device that cannot be opened there, so reading fails


def _environment(plan: SandboxPlan) -> Iterator[str]:
    yield "--clearenv"
    for name, value in plan.environment.items():
        yield from ("--setenv", name, value)


def _launcher(plan: SandboxPlan) -> Iterator[str]:
    launch = plan.launch
    if launch is None:
        return
    limits = plan.limits
    yield from (str(launch.python), "-I", "-S", str(launch.script))
    yield from (plan.cwd_id or "-", launch.filter.hex() or "-", str(launch.landlock))
    yield ",".join(map(str, (limits.data_bytes, limits.processes, limits.file_bytes, limits.core_bytes)))
    writable = [*PRIVATE_TEMPORARY, *map(str, (*plan.emptied, plan.home, *plan.writable))]
    yield str(len(writable))
    yield from writable


def _bind(kind: str, path: Path) -> tuple[str, str, str]:
    return (kind, str(path), str(path))


def _parents_first(paths: Sequence[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: len(path.parts))
