"""Path names that are refused before the file system is asked about them; pure."""

import re

from tark_lsp.errors import OutsideWorkspace

WINDOWS_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?", re.IGNORECASE)
"""https://learn.microsoft.com/windows/win32/fileio/naming-a-file; a device name is not harmless with an extension."""


LONGEST_PATH, LONGEST_NAME = 3000, 255
"""In bytes. Linux allows 4,096 for a whole path, including the folder of the workspace."""


def check_name(path: str, *, windows: bool) -> None:
    """Raise OutsideWorkspace for names that no file system should be asked about.

    On Windows, asking alone can do harm. A UNC name sends the user's credentials to the host it names. A device name
    can block. An alternate stream (`a.py:x`) or a trailing dot does not name the file that it seems to name.
    """
    if "\0" in path:
        raise OutsideWorkspace("the path holds a NUL character")
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise OutsideWorkspace("the path is not valid Unicode") from error
    if len(data) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in re.split(rb"[\\/]", data)):
        raise OutsideWorkspace(f"{path[:40]}...: the path is longer than file systems allow")
    if not windows:
        return
    if re.match(r"[\\/]{2}", path):
        raise OutsideWorkspace(f"{path}: network and device paths are refused")
    drive = re.match(r"[A-Za-z]:[\\/]", path)
    for part in re.split(r"[\\/]", path[drive.end() if drive else 0 :]):
        if ":" in part:
            raise OutsideWorkspace(f"{path}: drive-relative names and alternate data streams are refused")
        if WINDOWS_DEVICES.fullmatch(part):
            raise OutsideWorkspace(f"{path}: {part} is a device")
        if part not in (".", "..") and part != part.rstrip(". "):
            raise OutsideWorkspace(f"{path}: names that end in a dot or a space are refused")
