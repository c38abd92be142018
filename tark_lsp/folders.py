"""The paths of Tark's files: the user's settings, Tark's state, stored keys, the settings of a workspace."""

import stat
import sys
from pathlib import Path

from platformdirs.api import PlatformDirsABC


def user_config_path() -> Path:
    """`$XDG_CONFIG_HOME/tark/config.toml`, else in `~/.config`; on Windows `%APPDATA%\\tark\\config.toml`."""
    return _directories().user_config_path / "config.toml"


def keys_folder() -> Path:
    """The folder for keys without a keyring. It is created with the first key."""
    return _directories().user_state_path / "keys"


def state_folder() -> Path:
    """`$XDG_STATE_HOME/tark`, else in `~/.local/state`; on Windows `%LOCALAPPDATA%\\tark`. Created with mode 0700."""
    folder = _directories().user_state_path
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)
    return folder


def own_folders() -> tuple[Path, Path]:
    """The folders of the user's settings and of Tark's state. They may not exist yet."""
    return user_config_path().parent, _directories().user_state_path


def private_paths() -> tuple[Path, Path]:
    """The paths with keys, headers with keys, sessions and logs. No tool reads them. They may not exist yet."""
    return user_config_path(), _directories().user_state_path


def checkpoints_path() -> Path:
    """The file for all workspaces. Its folder is created."""
    return state_folder() / "checkpoints.sqlite3"


def copies_folder() -> Path:
    """Copies of files that commands changed. Its parent is created."""
    return state_folder() / "checkpoint-copies"


def running_commands_folder() -> Path:
    """The state of workspaces before the commands that are running now. Its parent is created."""
    return state_folder() / "running-commands"


def sessions_path() -> Path:
    """The file for all workspaces. Its folder is created."""
    return state_folder() / "sessions.sqlite3"


def receipts_path() -> Path:
    """The file for all workspaces. Its folder is created."""
    return state_folder() / "receipts.sqlite3"


def mask_key_path() -> Path:
    """The key of the tokens that replace secrets. Its folder is created."""
    return state_folder() / "mask-key"


def mcp_pins_folder() -> Path:
    """The user's approvals of MCP servers, one file for each. It may not exist yet."""
    return _directories().user_state_path / "mcp"


def hook_pins_folder() -> Path:
    """The user's approvals of projects' hooks, one file for each. It may not exist yet."""
    return _directories().user_state_path / "hooks"


def agent_pins_folder() -> Path:
    """The user's approvals of projects' agents, one file for each. It may not exist yet."""
    return _directories().user_state_path / "agents"


def told_offers_folder() -> Path:
    """One file for each offer that was shown to the user. It may not exist yet."""
    return _directories().user_state_path / "told-offers"


def permissions_path() -> Path:
    """The file for all workspaces. Its folder is created."""
    return state_folder() / "permissions.sqlite3"


def uploads_path() -> Path:
    """The file for all workspaces. Its folder is created."""
    return state_folder() / "uploads.json"


def caches_folder() -> Path:
    """The caches of toolchains in the sandbox: `$XDG_CACHE_HOME/tark`, else in `~/.cache`. It need not exist."""
    return _directories().user_cache_path


def indexes_folder() -> Path:
    """One folder for each workspace, in the user's cache. It need not exist."""
    return _directories().user_cache_path / "index"


def logs_folder() -> Path:
    """Created with mode 0700."""
    folder = state_folder() / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def kept_hunks_mark() -> Path:
    """A file that exists while undecided hunks are stored (sessions/hunks.py). This creates nothing."""
    return _directories().user_state_path / "undecided-hunks"


def workspace_config_path(folder: Path) -> Path:
    return folder / ".tark" / "config.toml"


def _directories() -> PlatformDirsABC:
    # The protocol promises the XDG folders on macOS as well, so the platform default of platformdirs is not used.
    # Each import is where it is needed, because both together take half a megabyte.
    if sys.platform == "win32":
        from platformdirs.windows import Windows

        return Windows("tark", appauthor=False, roaming=True)
    from platformdirs.unix import Unix

    return Unix("tark")
