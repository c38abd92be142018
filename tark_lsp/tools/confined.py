"""Runs programs for tools in the sandbox, and checks whether it works on this machine."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import ToolError
from tark_lsp.tools.tool import ToolContext

if TYPE_CHECKING:  # imported only with the first command in the sandbox
    from tark_lsp.sandbox.sandbox import Run


async def can_confine(ctx: ToolContext) -> bool:
    sandbox = ctx.sandbox.find()
    return sandbox is not None and await sandbox.check()


async def run_confined(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    start: "Callable[[Run], Awaitable[int | None]]",
    ctx: ToolContext,
    *,
    read_only: bool = False,
    network: bool = False,
    writable: Sequence[Path] = (),
    cwd_id: str = "",
) -> "Run":
    """Run `argv` with `Sandbox.execute`. `start` starts it, perhaps several times, and returns its exit code.

    Raises ToolError `unsupported` if the sandbox cannot be set up: the user has not allowed `argv` without it.
    """
    from tark_lsp.sandbox.plan import Needs
    from tark_lsp.sandbox.sandbox import NotSandboxed

    sandbox = ctx.sandbox.find()
    needs = Needs(read_only=read_only, network=network, writable=tuple(writable))
    try:
        if sandbox is None:
            raise NotSandboxed("it is turned off")
        _, run = await sandbox.execute(argv, cwd, env, start, needs, cwd_id)
    except NotSandboxed as error:
        if not network and not writable:  # else these requests can be the cause, which does not affect other commands
            ctx.sandbox.give_up()
        raise ToolError(
            "unsupported",
            f"it did not run, because the sandbox cannot be set up: {error}",
            hint="make the same call again: the person is asked, and it runs without a sandbox",
        ) from error
    return run
