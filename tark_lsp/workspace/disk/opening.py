"""Opens a folder of the workspace with the implementation for this operating system."""

import os
from pathlib import Path

from tark_lsp.workspace.disk.folder import Folder


def open_folder(path: Path) -> Folder:
    """`path` is absolute and has no links in it; the folder need not exist yet."""
    if os.name == "nt":
        from tark_lsp.workspace.disk.windows_folder import WindowsFolder

        return WindowsFolder(path)
    from tark_lsp.workspace.disk.posix_folder import PosixFolder

    return PosixFolder(path)
