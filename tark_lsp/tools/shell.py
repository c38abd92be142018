"""The shell that runs command lines."""

import os
import sys
from pathlib import Path


def shell() -> tuple[str, ...]:
    if sys.platform == "win32":  # untested; PowerShell accepts the quoting of list2cmdline, cmd does not
        system = Path(os.environ["SYSTEMROOT"], "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
        return (str(system), "-NoProfile", "-NonInteractive", "-Command")
    bash = next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), "/bin/sh")
    return (bash, "-c")
