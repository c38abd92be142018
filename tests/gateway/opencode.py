"""The real opencode as a client of the gateway, offline: its own home folder, and no provider but the gateway."""

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway.running import TOKEN
from tests.npm import installed
from tests.patience import HANGS

PACKAGE = "opencode-ai@1.18.33"


@dataclass(frozen=True, slots=True)
class Opencode:
    """One user of opencode: `home` has its state, `folder` the files and the settings."""

    home: Path
    folder: Path

    async def run(self, prompt: str) -> list[dict[str, Any]]:
        """The parts of the turn, in the form of `opencode run --format json`."""
        program = min(installed(PACKAGE).glob("opencode-*-*/bin/opencode"))  # linked by a script, which we do not run
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TARK_GATEWAY_TOKEN": TOKEN,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            program,
            *("run", "--format", "json", "--title", "A job", prompt),
            cwd=self.folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
        try:
            async with asyncio.timeout(3 * HANGS):  # each start in a new home takes half a minute on a busy machine
                output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, (output + errors).decode()
        return [json.loads(line)["part"] for line in output.splitlines()]


def new_opencode(folder: Path, url: str, model: str) -> Opencode:
    """With the recipe of docs/gateway.md."""
    opencode = Opencode(folder / "home", folder / "files")
    opencode.home.mkdir()
    opencode.folder.mkdir()
    options = {"baseURL": url, "apiKey": "{env:TARK_GATEWAY_TOKEN}"}
    provider = {"npm": "@ai-sdk/openai", "name": "Tark", "options": options, "models": {model: {"name": model}}}
    settings = {"model": f"tark/{model}", "small_model": f"tark/{model}", "provider": {"tark": provider}}
    (opencode.folder / "opencode.json").write_text(json.dumps(settings))
    return opencode
