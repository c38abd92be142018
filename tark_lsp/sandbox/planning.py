"""Makes the plan of a run from the files on disk."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tark_lsp.sandbox import launcher
from tark_lsp.sandbox.plan import Launch, Limits, Needs, SandboxPlan
from tark_lsp.sandbox.toolchains import CACHES as CACHE_TABLE
from tark_lsp.sandbox.toolchains import HOMES, PROGRAMS, cache_seeds, cache_variables
from tark_lsp.sandbox.tree import Found, Scan, other_names
from tark_lsp.secrets.file_names import OF_SYSTEM
from tark_lsp.workspace.private import PrivatePaths

MOST_MOUNTS = 400
"""Bubblewrap reads the list of mounts after each mount: 100 take 30 ms, 500 take 400 ms."""

GIT_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("safe.bareRepository", "explicit"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)

REMOVED = (
    "GIT_",
    "DBUS_",
    "SSH_",
    "DOCKER_",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "WAYLAND_",
    "DISPLAY",
    "LD_",
    "GPG_",
)
"""Prefixes of variables that never get inside, even if the caller's list contains them."""

UNTIL_THE_END = ("/tmp", "/var/tmp", "/run")
SOCKETS = Path("/proc/net/unix")


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of the machine: the user's home, Tark's caches and state, and the paths with Tark's keys."""

    home: Path
    caches: Path
    state: Path
    private: tuple[Path, ...] = ()


class CannotPlan(Exception):
    """This command cannot be sandboxed. The text is for the user."""


def make_plan(
    workspace: Sequence[Path],
    cwd: Path,
    environment: Mapping[str, str],
    needs: Needs,
    places: Places,
    scans: Sequence[Scan],
    launch: Launch | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> SandboxPlan:
    """`workspace` and `cwd` must be resolved. Creates the folder of the caches. The caller adds covers.

    Raises CannotPlan.
    """
    home = places.home
    if home == Path("/") or any(home.is_relative_to(folder) for folder in workspace):
        raise CannotPlan(f"the workspace contains your home folder {home}, which commands must not see")
    for scan in scans:
        if scan.problem:
            raise CannotPlan(scan.problem)
    protected = [found for scan in scans for found in scan.protected.values()]
    emptied = tuple(path for path in (Path("/root"), Path("/home")) if path.is_dir() and path != home)
    hidden = (*map(Path, UNTIL_THE_END), *emptied, home)
    own = own_caches(workspace, places)
    make_folders(own)
    mounted = (*workspace, own)
    readable = [path for path in _programs(home, environment, launch) if _is_below(path, hidden)]
    if needs.network:
        readable += _resolver(hidden)
    seeds = [pair for pair in cache_seeds(own, home) if pair[0].is_dir()] if not needs.network else []
    for _, inside in seeds:
        inside.mkdir(parents=True, exist_ok=True)
    secrets = set(_secrets(scans, needs, hidden, mounted))
    masked = {*_private(places, home, [*workspace, *readable, *needs.readable, *needs.writable]), *_of_system(hidden)}
    plan = SandboxPlan(
        workspace=tuple(workspace),
        home=home,
        cwd=cwd,
        needs=needs,
        emptied=emptied,
        masked_folders=tuple(path for path in sorted(masked) if path.is_dir()),
        masked_files=(
            *sorted(secrets),
            *(path for path in sorted(masked) if not path.is_dir()),
            *_sockets(hidden, mounted, needs),
        ),
        read_only_paths=() if needs.read_only else tuple(_fixed(protected, workspace)),
        readable=tuple(readable),
        seeds=tuple(seeds),
        caches=own,
        environment=inside_environment(environment, own, home, needs),
        limits=limits,
        launch=launch,
    )
    count = len(plan.read_only_paths) + len(plan.masked_files) + len(plan.masked_folders)
    if count > MOST_MOUNTS:
        raise CannotPlan(f"the workspace has {count} protected or secret paths; the sandbox can cover {MOST_MOUNTS}")
    return plan


def own_caches(workspace: Sequence[Path], places: Places) -> Path:
    """The folder for the caches of these workspace folders. No other workspace uses it."""
    name = sha256("\0".join(sorted(map(str, workspace))).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return places.caches / name


def make_folders(caches: Path) -> None:
    for cache in CACHE_TABLE:
        (caches / cache.folder).mkdir(mode=0o700, parents=True, exist_ok=True)


def inside_environment(environment: Mapping[str, str], caches: Path, home: Path, needs: Needs) -> dict[str, str]:
    """The caller's variables without `REMOVED`, and Tark's own: for caches, git's settings and temporary files."""
    kept = {name: value for name, value in environment.items() if not name.startswith(REMOVED)}
    git = {"GIT_CONFIG_COUNT": str(len(GIT_SETTINGS)), "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    for number, (key, value) in enumerate(GIT_SETTINGS):
        git |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    cache = dict(cache_variables(caches, home, network=needs.network))
    offline = {} if needs.network else {"CARGO_NET_OFFLINE": "true", "npm_config_offline": "true"}
    return {**kept, **cache, **offline, **git, "HOME": str(home), "TMPDIR": "/tmp", "GIT_PAGER": "cat"}


def launcher_script() -> Path:
    return Path(launcher.__file__).resolve()


def _programs(home: Path, environment: Mapping[str, str], launch: Launch | None) -> Iterator[Path]:
    for name in PROGRAMS:
        if (home / name).is_dir():
            yield (home / name).resolve()
    for variable in HOMES:
        path = Path(environment.get(variable, ""))
        if path.is_absolute() and path.is_dir() and path != home:
            yield path.resolve()
    if launch is not None:
        yield launch.python.parent.parent
        yield launch.script


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    """Whether the path is inside a folder but not a folder itself: a variable with the home folder has no effect."""
    return path not in folders and any(path.is_relative_to(folder) for folder in folders)


def _resolver(hidden: Sequence[Path]) -> list[Path]:
    """The target of /etc/resolv.conf, if it would be hidden."""
    path = Path("/etc/resolv.conf").resolve()
    return [path] if path.is_file() and _is_below(path, hidden) else []


def _fixed(protected: Sequence[Found], workspace: Sequence[Path]) -> Iterator[Path]:
    """The read-only paths: protected paths, targets of links in the workspace, and further names of protected files."""
    for found in protected:
        path = found.path if found.link_text is None else Path(os.path.realpath(found.path))  # also for a loop
        if path.exists() and any(path.is_relative_to(folder) for folder in workspace) and path not in workspace:
            yield path
    files = {(one.device, one.inode): one.path for one in protected if one.links > 1 and not one.is_folder}
    for folder in workspace if files else ():
        yield from other_names(folder, files)


def _private(places: Places, home: Path, shown: Sequence[Path]) -> Iterator[Path]:
    """Paths with keys that are visible despite the empty home: Tark's own files, and paths below a visible folder."""
    for path in places.private:
        if path.exists():
            yield path
    private = PrivatePaths(home, ())
    for folder in shown:
        if folder.is_dir() and folder.is_relative_to(home) and private.can_be_below(folder):
            yield from (path for path in folder.iterdir() if private.covers(path.resolve()))


def _secrets(scans: Sequence[Scan], needs: Needs, hidden: Sequence[Path], shown: Sequence[Path]) -> Iterator[Path]:
    """The files with secrets that are not hidden anyway. Links are resolved: nothing can be mounted on a link."""
    for path in (path for scan in scans for path in scan.secrets if path not in needs.readable):
        file = Path(os.path.realpath(path))
        if file.is_file() and (not _is_below(file, hidden) or _is_below(file, shown)):
            yield file


def _of_system(hidden: Sequence[Path]) -> Iterator[Path]:
    for pattern in OF_SYSTEM:
        for path in Path("/").glob(pattern):
            resolved = path.resolve()
            if resolved not in hidden and not _is_below(resolved, hidden) and resolved.exists():
                yield resolved


def _sockets(hidden: Sequence[Path], mounted: Sequence[Path], needs: Needs) -> Iterator[Path]:
    """Visible sockets of programs outside. They must be masked: a read-only mount does not prevent a connection."""
    shown = (*mounted, *needs.readable, *needs.writable)
    try:
        lines = SOCKETS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    paths = {Path(words[7]) for line in lines if len(words := line.split(maxsplit=7)) > 7}
    for path in sorted(paths):
        if not path.is_absolute() or not os.path.lexists(path):
            continue
        path = path.resolve()
        if path in needs.readable or (_is_below(path, hidden) and not _is_below(path, shown)):
            continue
        yield path
