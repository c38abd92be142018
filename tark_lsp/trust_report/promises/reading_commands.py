"""Commands that only read are not asked about at `careful`."""

import math

from tark_lsp.messages import ApprovalLevel
from tark_lsp.trust_report.gate import Gate, why_asked, working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise

NEEDED = 0.9


async def measure(ground: Ground) -> Outcome:
    workspace = ground.folder / "workspace"
    workspace.mkdir()
    commands = [case["cmd"] for case in ground.corpora.read("commands/bypass_cases.json")["benign"]]
    gate = Gate(workspace, await working_sandbox(ground.folder, workspace))
    asked = await why_asked(gate, commands, ApprovalLevel.CAREFUL)
    failures = tuple(f"{command}: {why}" for command, why in asked.items())
    needed = math.ceil(len(commands) * NEEDED)
    return Outcome("harmless commands of the corpora", len(commands), failures, needed)


PROMISE = Promise(11, "At careful, commands that only read run without a question", measure)
