"""What a run in the sandbox can do, as frozen values without I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

GIB = 2**30

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limits:
    """What each process can use at most, as setrlimit(2) has it.

    `data_bytes`: memory that it can write to (RLIMIT_DATA; the address space itself is not limited, because Node, Go
    and Java reserve far more than they use). `processes`: of this user inside (RLIMIT_NPROC; it does not bind root).
    """

    data_bytes: int = 16 * GIB
    processes: int = 4096
    file_bytes: int = 16 * GIB
    core_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What one command gets beyond the workspace; each was asked for by name.

    `readable` and `writable`: absolute paths, for what they name and everything below. `ptrace`: debuggers.
    """

    read_only: bool = False
    network: bool = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    ptrace: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """How the launcher (launcher.py) is started inside: the second layer. `landlock`: 0 if the kernel has none."""

    python: Path
    script: Path
    landlock: int
    filter: bytes


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """All that `wrap` needs. All paths are absolute and resolved.

    `home` and `emptied`: folders that are empty inside, and writable until the run ends. `masked_folders` and
    `masked_files`: they cannot be read. `read_only_paths`: existing protected paths. `covers`: empty folders at names
    that must not be created. `seeds`: (outside, inside) for caches of the user that are read from elsewhere inside.
    `caches`: the writable folder of this workspace's own caches. `cwd_id`: the folder that `cwd` must be (device and
    inode), or the command does not run; empty: any. `info`: the file for what bubblewrap
    says about the run.
    """

    workspace: tuple[Path, ...]
    home: Path
    cwd: Path
    needs: Needs = Needs()
    emptied: tuple[Path, ...] = ()
    masked_folders: tuple[Path, ...] = ()
    masked_files: tuple[Path, ...] = ()
    read_only_paths: tuple[Path, ...] = ()
    covers: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    seeds: tuple[tuple[Path, Path], ...] = ()
    caches: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    limits: Limits = Limits()
    launch: Launch | None = None
    info: Path | None = None
    cwd_id: str = ""

    @property
    def writable(self) -> tuple[Path, ...]:
        """The folders outside the private ones that the command can write to."""
        workspace = () if self.needs.read_only else self.workspace
        caches = () if self.caches is None else (self.caches,)
        return (*workspace, *caches, *self.needs.writable)
