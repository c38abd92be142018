"""What tools need of the sandbox: whether it works here, and git in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import ToolError
from tark_lsp.tools.git import GitOutput, GitReading
from tark_lsp.tools.tool import ToolContext

if TYPE_CHECKING:
    from tark_lsp.sandbox.sandbox import Run

ENV = "/usr/bin/env"


async def can_confine(ctx: ToolContext) -> bool:
    sandbox = ctx.sandbox.find()
    return sandbox is not None and await sandbox.check()


async def run_git_confined(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], ctx: ToolContext) -> GitOutput:
    """As `run_git`, in a sandbox that cannot write to the workspace. Raises ToolError also if it cannot be set up."""
    from tark_lsp.sandbox.plan import Needs  # loaded with the first command that is confined
    from tark_lsp.sandbox.sandbox import NotSandboxed

    sandbox = ctx.sandbox.find()
    reading = GitReading()
    # The sandbox removes git's variables from the environment. These are ours.
    own = [f"{name}={value}" for name, value in env.items() if name.startswith("GIT_")]

    async def start(run: "Run") -> int | None:
        nonlocal reading
        reading = GitReading()
        return await reading.start(run.argv, run.cwd, {**run.env, "TARK_COMMAND": env["TARK_COMMAND"]})

    try:
        if sandbox is None:
            raise NotSandboxed("it is turned off")
        code, _ = await sandbox.execute((ENV, *own, *argv), cwd, env, start, Needs(read_only=True))
    except NotSandboxed as error:
        ctx.sandbox.give_up()
        raise ToolError(
            "unsupported",
            f"git did not run, because the sandbox cannot be set up: {error}",
            hint="make the same call again: the person is asked, and it runs without a sandbox",
        ) from error
    return reading.output(code)
