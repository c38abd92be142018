"""Where our own files are: the person's settings, our state, stored keys, a workspace's settings."""

import stat
import sys
from pathlib import Path

from platformdirs.unix import Unix
from platformdirs.windows import Windows


def user_config_path() -> Path:
    """`$XDG_CONFIG_HOME/tark/config.toml`, else below `~/.config`; on Windows `%APPDATA%\\tark\\config.toml`."""
    return _directories().user_config_path / "config.toml"


def keys_folder() -> Path:
    """Where keys are kept without a keyring; whoever stores the first makes it."""
    return _directories().user_state_path / "keys"


def state_folder() -> Path:
    """`$XDG_STATE_HOME/tark`, else below `~/.local/state`; `%LOCALAPPDATA%\\tark`. Made if missing, 0700."""
    folder = _directories().user_state_path
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)
    return folder


def own_folders() -> tuple[Path, Path]:
    """Of the person's settings and of our state, there or not."""
    return user_config_path().parent, _directories().user_state_path


def checkpoints_path() -> Path:
    """Of all workspaces; its folder is made if missing."""
    return state_folder() / "checkpoints.sqlite3"


def sessions_path() -> Path:
    """Of all workspaces; its folder is made if missing."""
    return state_folder() / "sessions.sqlite3"


def logs_folder() -> Path:
    """Made if missing, 0700."""
    folder = state_folder() / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def kept_hunks_mark() -> Path:
    """There while undecided hunks are kept (sessions/hunks.py). Nothing is made by asking for it."""
    return _directories().user_state_path / "undecided-hunks"


def workspace_config_path(folder: Path) -> Path:
    return folder / ".tark" / "config.toml"


def _directories() -> Unix | Windows:
    # The contract asks for the XDG folders on macOS, too, so platformdirs' own choice by platform is not used.
    return Windows("tark", appauthor=False, roaming=True) if sys.platform == "win32" else Unix("tark")
