"""The real Codex CLI as a client of the gateway, offline: its own home folder, and no provider but the gateway."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway.running import TOKEN
from tests.npm import installed
from tests.patience import HANGS

PACKAGE = "@openai/codex@0.171.0"
WEATHER = Path(__file__).with_name("weather_mcp.py")
CONFIG = """\
model = "{model}"
model_provider = "tark"
[model_providers.tark]
name = "Tark"
base_url = "{url}"
env_key = "TARK_GATEWAY_TOKEN"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.weather]
command = {python}
args = [{server}]
"""
"""The recipe of docs/gateway.md, without retries, and with a server whose tools Codex lets the model search."""


@dataclass(frozen=True, slots=True)
class Codex:
    """One user of Codex: `home` has the settings and sessions, `folder` the files."""

    home: Path
    folder: Path

    async def run(self, *arguments: str) -> list[dict[str, Any]]:
        """The items of the turn, in the form of `codex exec --json`."""
        program = installed(PACKAGE) / ".bin" / "codex"
        options = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "CODEX_HOME": str(self.home)}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            program,
            *("exec", *options, *arguments),
            cwd=self.folder,
            env={**environment, "TARK_GATEWAY_TOKEN": TOKEN},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
        try:
            async with asyncio.timeout(HANGS):
                output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, (output + errors).decode()
        events = [json.loads(line) for line in output.splitlines()]
        assert events[-1]["type"] == "turn.completed"
        return [event["item"] for event in events if event["type"] == "item.completed"]


def new_codex(folder: Path, url: str, model: str) -> Codex:
    codex = Codex(folder / "home", folder / "files")
    codex.home.mkdir()
    codex.folder.mkdir()
    python, server = json.dumps(sys.executable), json.dumps(str(WEATHER))
    (codex.home / "config.toml").write_text(CONFIG.format(model=model, url=url, python=python, server=server))
    return codex
