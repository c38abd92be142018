"""What developers run every day runs in the sandbox without a question at `balanced`."""

from tark_lsp.messages import ApprovalLevel
from tark_lsp.trust_report.everyday import COMMANDS
from tark_lsp.trust_report.gate import Gate, why_asked, working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise

NEEDED = 50


async def measure(ground: Ground) -> Outcome:
    workspace = ground.folder / "workspace"
    workspace.mkdir()
    gate = Gate(workspace, await working_sandbox(ground.folder, workspace), undoes=True)
    asked = await why_asked(gate, COMMANDS, ApprovalLevel.BALANCED)
    failures = tuple(f"{command}: {why}" for command, why in asked.items())
    return Outcome("builds, tests, linters, formatters and git, of ten ecosystems", len(COMMANDS), failures, NEEDED)


PROMISE = Promise(12, "At balanced, everyday commands run in the sandbox without a question", measure)
