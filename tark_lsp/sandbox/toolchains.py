"""Where toolchains store programs and caches: what a command sees of the home folder, and where it writes instead."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = (
    *(".local/bin", ".local/lib", ".local/share/uv", ".local/share/pipx", ".local/pipx", ".local/share/mise", "bin"),
    *(".pyenv", ".rye/shims", ".rye/py", "miniconda3", "miniforge3", "anaconda3", ".pixi/bin"),
    *(".nvm", ".volta", ".fnm", ".local/share/fnm", ".local/share/pnpm", ".bun/bin", ".deno/bin", ".npm-global"),
    *(".cargo/bin", ".rustup", "go/bin", "sdk", ".sdkman/candidates", ".jenv", ".jabba", ".asdf"),
    *(".rbenv", ".rvm", ".gem", ".local/share/gem", ".dotnet", ".ghcup", ".opam", ".juliaup", ".elan", ".swiftly"),
    *(".nix-profile", ".local/state/nix", ".linuxbrew", ".config/composer/vendor"),
)
"""Folders below the home folder that commands can read and execute, but not write. Keys in them are masked."""

HOMES = (
    "PYENV_ROOT",
    "NVM_DIR",
    "RUSTUP_HOME",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "RBENV_ROOT",
    "ASDF_DIR",
    "DOTNET_ROOT",
)
"""Variables that name such a folder at another path."""


@dataclass(frozen=True, slots=True)
class Cache:
    """One cache of a toolchain.

    - `folder`: its folder, below this workspace's own caches.
    - `variables`: environment variables for the toolchain. `{cache}` is the folder, `{home}` the home folder.
    - `seeds`: folders of the user's own cache, relative to the home folder, that are readable at a path below `folder`,
      because nothing else fills it without the network.
    - `reads`: folders of the user's own cache that are read at their own path.
    """

    name: str
    folder: str
    variables: Mapping[str, str]
    seeds: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()


CACHES = (
    Cache("anything else", "xdg", {"XDG_CACHE_HOME": "{cache}"}),
    Cache("pip", "pip", {"PIP_CACHE_DIR": "{cache}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}),
    Cache("uv", "uv", {"UV_CACHE_DIR": "{cache}", "UV_LINK_MODE": "copy", "UV_TOOL_DIR": "{cache}/tools"}),
    Cache("npm", "npm", {"npm_config_cache": "{cache}", "npm_config_update_notifier": "false"}),
    Cache("yarn", "yarn", {"YARN_CACHE_FOLDER": "{cache}", "YARN_GLOBAL_FOLDER": "{cache}"}),
    Cache("pnpm", "pnpm", {"npm_config_store_dir": "{cache}"}),
    Cache(
        "cargo",
        "cargo",
        {"CARGO_HOME": "{cache}"},
        tuple((f".cargo/{part}", part) for part in ("registry/index", "registry/cache", "git/db")),
    ),
    Cache("go", "go", {"GOCACHE": "{cache}/build", "GOENV": "off", "GOTELEMETRY": "off", "GOTOOLCHAIN": "local"}),
    Cache(
        "go modules",
        "gomod",
        {"GOMODCACHE": "{cache}", "GOPROXY": "file://{home}/go/pkg/mod/cache/download,off"},
        reads=("go/pkg/mod/cache/download",),
    ),
    Cache(
        "maven",
        "maven",
        {"MAVEN_ARGS": "-Dmaven.repo.local={cache} -Dmaven.repo.local.tail={home}/.m2/repository"},
        reads=(".m2/repository",),
    ),
    Cache(
        "gradle",
        "gradle",
        {"GRADLE_USER_HOME": "{cache}", "GRADLE_RO_DEP_CACHE": "{home}/.gradle/caches"},
        reads=(".gradle/caches/modules-2",),
    ),
)
"""No program outside the sandbox reads these caches, so a command cannot use them to affect such programs."""

NOT_WITH_NETWORK = frozenset({"GOPROXY"})
"""Variables that are left out if the command has the network. Then there are also no seeds, so that the caches can be
filled."""

ONLY_WITH_NETWORK = frozenset({"UV_TOOL_DIR"})
"""`uvx` writes to this folder, and can fill it with the network. Without it, the user's installed tools are used."""


def cache_variables(caches: Path, home: Path, *, network: bool) -> Iterator[tuple[str, str]]:
    for cache in CACHES:
        folder = caches / cache.folder
        for name, value in cache.variables.items():
            if name not in (NOT_WITH_NETWORK if network else ONLY_WITH_NETWORK):
                yield name, value.replace("{cache}", str(folder)).replace("{home}", str(home))


def cache_seeds(caches: Path, home: Path) -> Iterator[tuple[Path, Path]]:
    """(outside, inside) for all seeds, whether they exist or not."""
    for cache in CACHES:
        for outside, inside in cache.seeds:
            yield home / outside, caches / cache.folder / inside
