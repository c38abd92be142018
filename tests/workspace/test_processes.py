"""What programs that we start can find out about us."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

READER = """
import asyncio, ctypes, os, subprocess, sys
from pathlib import Path
from tark_lsp.workspace.processes import run_process

if os.geteuid() == 0:  # root may read everything
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as in a process that began as this user

argv = ["/bin/cat", f"/proc/{os.getpid()}/environ"]
print("before:", b"SECRET=hunter2" in subprocess.run(argv, capture_output=True).stdout)
output = bytearray()


def keep(data):
    output.extend(data)
    return True


asyncio.run(run_process(argv, cwd=Path("/"), env={}, on_stdout=keep))
print("after:", b"SECRET=hunter2" in output, b"Permission denied" in output)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
async def test_our_environment_cannot_be_read() -> None:
    root = str(Path(__file__).parents[2])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", READER),
        env={**os.environ, "SECRET": "hunter2", "PYTHONPATH": root},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert said.decode().split("\n") == ["before: True", "after: False True", ""]
