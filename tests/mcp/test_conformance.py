"""The conformance suite for clients: all scenarios of both eras that apply (docs/mcp.md has the table)."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from tests.mcp.installed import conformance
from tests.mcp.servers import ROOT

pytestmark = pytest.mark.exhaustive

SCENARIOS = [
    ("initialize", "2025-06-18"),
    ("initialize", "2025-11-25"),
    ("tools_call", "2025-06-18"),
    ("tools_call", "2025-11-25"),
    ("tools_call", "2026-07-28"),
    ("elicitation-sep1034-client-defaults", "2025-11-25"),
    ("sse-retry", "2025-11-25"),
    ("request-metadata", "2026-07-28"),
    ("sep-2322-client-request-state", "2026-07-28"),
    ("http-standard-headers", "2026-07-28"),
    ("http-custom-headers", "2026-07-28"),
    ("http-invalid-tool-headers", "2026-07-28"),
]


@pytest.mark.parametrize(("scenario", "version"), SCENARIOS)
async def test_scenario(tmp_path: Path, scenario: str, version: str) -> None:
    node, script = conformance()
    client = tmp_path / "client"
    client.write_text(f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m tests.mcp.conformance_client "$@"\n')
    client.chmod(0o700)
    command = (node, script, "client", "--command", str(client), "--scenario", scenario, "--spec-version", version)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, env=dict(os.environ), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    shown = re.sub(r"\x1b\[[0-9;]*m", "", (await process.communicate())[0].decode())
    assert process.returncode == 0, shown
    assert "FAILURE" not in shown
    assert "WARNING" not in shown
