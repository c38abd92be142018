"""Hooks for tests: small programs in a folder outside the workspace, run without a sandbox unless a test has one."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.events import Notice
from tark_lsp.agent.state import TurnEnd
from tark_lsp.agent.turn import run_turn
from tark_lsp.agent.turn_hooks import TurnHooks
from tark_lsp.hooks.hook import Hook, HookAnswer
from tark_lsp.hooks.pinning import SETTINGS
from tark_lsp.hooks.running import Surroundings, run_hook
from tark_lsp.messages import ApprovalLevel
from tests.agent.bench import Bench
from tests.agent.script import Answer

TRUSTED = Policy(ApprovalLevel.CAREFUL, trusted=True)
HEAD = "import json, os, sys, time\ngiven = json.load(sys.stdin)\ndef say(**x): print(json.dumps(x))\n"


class HookDesk:
    """A bench whose turns have hooks. `add` writes one as a Python program, which can use `given` and `say`."""

    def __init__(self, folder: Path, **more: Any) -> None:
        project = (folder / "project").resolve()
        project.mkdir()
        self.scripts = folder / "scripts"
        self.scripts.mkdir()
        self.log = folder / "log"
        self.bench = Bench(project, rules=TRUSTED)
        self.hooks: list[Hook] = []
        self.around = Surroundings([project], {**os.environ}, **more)

    def add(self, on: str, body: str, name: str = "h", *, source: Path | None = None, **settings: Any) -> Hook:
        script = self.scripts / f"{name}.py"
        script.write_text(f"{HEAD}LOG = {str(self.log)!r}\n{body}\n")
        values = {
            "name": name,
            "on": on,
            "command": sys.executable,
            "args": ["-S", "-E", str(script)],
            "sandbox": False,
        }
        hook = Hook(SETTINGS.validate_python({**values, **settings}, by_alias=True, by_name=False), source)
        self.hooks.append(hook)
        return hook

    async def run(self, *answers: Answer, decisions: Any = None) -> TurnEnd:
        turn = self.bench.make(*answers, decisions=decisions)

        async def run(hook: Hook, payload: Mapping[str, Any]) -> HookAnswer:
            return await run_hook(hook, payload, self.around)

        turn.hooks = TurnHooks(self.hooks, run)
        return await run_turn(turn)

    def notices(self) -> list[str]:
        return [event.message for event in self.bench.heard if isinstance(event, Notice)]

    def allow_everything(self, *rules: Any) -> None:
        self.bench.rules = replace(TRUSTED, allow=rules)
