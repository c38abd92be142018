"""Protected paths that a command created in the sandbox. They are moved away, and the user decides what happens."""

import os
import shutil
from typing import TYPE_CHECKING

from tark_lsp.errors import ToolError
from tark_lsp.tools.editor import Option
from tark_lsp.tools.tool import ToolContext

if TYPE_CHECKING:  # imported only with the first command in the sandbox
    from tark_lsp.sandbox.quarantine import Findings, Quarantined

LEAVE, PUT_BACK = Option("leave", "Leave It Out"), Option("put-back", "Put It Back")


async def settle_findings(findings: "Findings | None", ctx: ToolContext) -> list[str]:
    """Ask the user about paths that were moved away. Returns lines for the model, and shows the same to the user.

    If some paths were not found or not moved away, commands of this workspace no longer run in the sandbox. So the user
    is asked about each of them.
    """
    if findings is None or findings.is_clean:
        return []
    return _tell(findings, [await _ask_about(found, ctx) for found in findings.quarantined], ctx)


def tell_findings(findings: "Findings | None", ctx: ToolContext) -> None:
    """Like `settle_findings`, but without a question, for a cancellation."""
    if findings is not None and not findings.is_clean:
        _tell(findings, [_kept(found, ctx) for found in findings.quarantined], ctx)


def _tell(findings: "Findings", told: list[str], ctx: ToolContext) -> list[str]:
    told += [
        f"{ctx.workspace.display(now)} is protected: it was {ctx.workspace.display(before)} before the command"
        for before, now in findings.moved
    ]
    told += [
        f"{ctx.workspace.display(path)} is a protected link that the command removed: it is there again"
        for path in findings.restored
    ]
    told += [
        f"the command created {ctx.workspace.display(path)}, a protected path that cannot be moved away: {why}"
        for path, why in findings.failed
    ]
    if findings.problem:
        told.append(f"what the command did to protected paths is not certain: {findings.problem}")
    if findings.failed or findings.problem:
        ctx.sandbox.give_up()
        told.append("so every command of this workspace is asked about from now on")
    for line in told:
        ctx.notify_user(line)
    return [f"[{line}]" for line in told]


async def _ask_about(found: "Quarantined", ctx: ToolContext) -> str:
    name = ctx.workspace.display(found.path)
    question = (
        f"The command created {name}. This is a protected path, because programs act on it, so it was moved away. "
        "Put it back?"
    )
    try:
        answer = await ctx.editor.ask_user(question, (LEAVE, PUT_BACK), free_text=False)
    except ToolError:  # the user cannot be asked
        answer = None
    if answer != PUT_BACK.id:
        return _kept(found, ctx)
    if os.path.realpath(found.path.parent) != str(found.path.parent):
        return f"{name} leads to another place now, so what the command created is still in {found.kept}"
    if os.path.lexists(found.path):
        return f"there is another {name} now, so what the command created is still in {found.kept}"
    try:
        found.path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(found.kept, found.path)
    except OSError as error:
        return f"{found.kept} cannot be moved back to {name}: {error.strerror or error}"
    return f"the command created {name}, a protected path: the user kept it"


def _kept(found: "Quarantined", ctx: ToolContext) -> str:
    return f"the command created {ctx.workspace.display(found.path)}, a protected path: it was moved to {found.kept}"
