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

BOTH = ("2025-11-25", "2026-07-28")
ALL = ("2025-06-18", *BOTH)
NEW = ("2026-07-28",)
AUTH: dict[str, tuple[str, ...]] = {
    "metadata-default": BOTH,
    "metadata-var1": BOTH,
    "metadata-var2": BOTH,
    "metadata-var3": BOTH,
    "basic-cimd": BOTH,
    "scope-from-www-authenticate": BOTH,
    "scope-from-scopes-supported": BOTH,
    "scope-omitted-when-undefined": BOTH,
    "scope-step-up": BOTH,
    "scope-retry-limit": BOTH,
    "token-endpoint-auth-basic": ALL,
    "token-endpoint-auth-post": ALL,
    "token-endpoint-auth-none": ALL,
    "pre-registration": BOTH,
    "2025-03-26-oauth-metadata-backcompat": ("2025-03-26",),
    "resource-mismatch": NEW,
    "offline-access-scope": NEW,
    "offline-access-not-supported": NEW,
    "authorization-server-migration": NEW,
    "iss-supported": NEW,
    "iss-not-advertised": NEW,
    "iss-supported-missing": NEW,
    "iss-wrong-issuer": NEW,
    "iss-unexpected": NEW,
    "iss-normalized": NEW,
    "metadata-issuer-mismatch": NEW,
}
"""The scenarios `auth/*` that pass, and their versions."""
FAILING = {
    "2025-03-26-oauth-endpoint-fallback": "2025-03-26",
    "client-credentials-basic": "2026-07-28",
    "client-credentials-jwt": "2026-07-28",
    "dpop": "2026-07-28",
    "dpop-nonce": "2026-07-28",
    "enterprise-managed-authorization": "2026-07-28",
    "wif-jwt-bearer": "2026-07-28",
}
"""Those that fail: docs/mcp.md has the reasons."""


@pytest.mark.parametrize(("scenario", "version"), SCENARIOS)
async def test_scenario(tmp_path: Path, scenario: str, version: str) -> None:
    code, shown = await run(tmp_path, scenario, version)
    assert code == 0, shown
    assert "FAILURE" not in shown
    assert "WARNING" not in shown


@pytest.mark.parametrize(("scenario", "version"), [(name, version) for name in AUTH for version in AUTH[name]])
async def test_login(tmp_path: Path, scenario: str, version: str) -> None:
    code, shown = await run(tmp_path, f"auth/{scenario}", version)
    assert code == 0, shown
    assert "FAILURE" not in shown


@pytest.mark.parametrize("scenario", FAILING)
async def test_login_that_is_not_supported(tmp_path: Path, scenario: str) -> None:
    code, shown = await run(tmp_path, f"auth/{scenario}", FAILING[scenario], "--force")
    assert code == 1, shown


async def run(tmp_path: Path, scenario: str, version: str, *more: str) -> tuple[int | None, str]:
    """The exit code of the suite, and what it shows."""
    node, script = conformance()
    client = tmp_path / "client"
    client.write_text(f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m tests.mcp.conformance_client "$@"\n')
    client.chmod(0o700)
    command = (
        node,
        script,
        "client",
        "--command",
        str(client),
        "--scenario",
        scenario,
        "--spec-version",
        version,
        *more,
    )
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, env=dict(os.environ), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    shown = re.sub(r"\x1b\[[0-9;]*m", "", (await process.communicate())[0].decode())
    return process.returncode, shown
