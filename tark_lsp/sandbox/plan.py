"""What a run in the sandbox can do: frozen values without I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

GIB = 2**30

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of each process, for setrlimit(2).

    `data_bytes`: writable memory (RLIMIT_DATA). The address space is not limited, because Node, Go and Java reserve far
    more than they use. `processes`: processes of this user inside (RLIMIT_NPROC, which does not apply to root).
    """

    data_bytes: int = 16 * GIB
    processes: int = 4096
    file_bytes: int = 16 * GIB
    core_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Needs:
    """The access of one command beyond the workspace, as explicitly requested.

    `readable`, `writable`: absolute paths, each including everything below. `ptrace`: for debuggers.
    """

    read_only: bool = False
    network: bool = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    ptrace: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """How the launcher (launcher.py), the second layer, is started inside. `landlock`: 0 if the kernel has none."""

    python: Path
    script: Path
    landlock: int
    filter: bytes


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """The input of `wrap`. All paths are absolute and resolved.

    - `home`, `emptied`: folders that are empty inside, and writable until the run ends.
    - `masked_folders`, `masked_files`: cannot be read.
    - `read_only_paths`: existing protected paths.
    - `covers`: empty folders at names that must not be created.
    - `seeds`: (outside, inside) for caches of the user that are read at another path inside.
    - `caches`: the writable folder of this workspace's own caches.
    - `cwd_id`: device and inode that `cwd` must have, else the command does not run; empty: any.
    - `info`: the file for bubblewrap's status of the run.
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
        """The folders to which the command can write, except the private ones."""
        workspace = () if self.needs.read_only else self.workspace
        caches = () if self.caches is None else (self.caches,)
        return (*workspace, *caches, *self.needs.writable)
