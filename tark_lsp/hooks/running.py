"""Runs the command of a hook, in the sandbox unless its settings say otherwise, with JSON on stdin."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.errors import HookError, McpError
from tark_lsp.hooks.hook import CHMOD, LONGEST_ANSWER, Hook, HookAnswer, read_answer
from tark_lsp.hooks.pinning import is_approved, resolve_hook
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.server_config import Resolved
from tark_lsp.workspace.environment import command_environment
from tark_lsp.workspace.processes import run_process

if TYPE_CHECKING:  # loaded with the first hook that runs in a sandbox
    from tark_lsp.sandbox.sandbox import Run, Sandbox

MARKER = "TARK_HOOK"
LONGEST_REASON = 500
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc", "/opt")
"""Folders that every command in the sandbox can read."""


@dataclass(frozen=True)
class Surroundings:
    """`sandbox()` is None if the settings turn it off. `pins`: the approvals of offers."""

    folders: Sequence[Path]
    environ: Mapping[str, str] = field(repr=False)
    sandbox: "Callable[[], Sandbox | None]" = lambda: None
    sandbox_required: bool = False
    pins: PinStore | None = None


class Output:
    """The output of a command: its stdout up to a limit, and the beginning of its stderr."""

    def __init__(self) -> None:
        self.stdout = bytearray()
        self._stderr = bytearray()

    def take(self, data: bytes) -> bool:
        self.stdout += data
        return len(self.stdout) <= LONGEST_ANSWER

    def take_error(self, data: bytes) -> bool:
        self._stderr += data[: max(0, 4 * LONGEST_REASON - len(self._stderr))]
        return True

    @property
    def reason(self) -> str:
        """The beginning of stderr, as one line."""
        return " ".join(self._stderr.decode("utf-8", "replace").split())[:LONGEST_REASON]


async def run_hook(hook: Hook, payload: Mapping[str, Any], around: Surroundings) -> HookAnswer:
    """Raises HookError if the hook did not finish, or gave an invalid answer."""
    try:
        resolved = await asyncio.to_thread(resolve_hook, hook, around.folders)
    except McpError as error:
        raise HookError(f"cannot be started: {error.message}") from error
    if hook.source is not None and not (around.pins and is_approved(hook, resolved.digest, around.pins)):
        raise HookError(f"changed since you approved it: `tark-lsp hooks approve {hook.name}` shows it")
    if hook.settings.sandbox and (sandbox := around.sandbox()) is not None:
        await sandbox.check()  # once per process; it must not count against the hook's time limit
    output = Output()
    given = json.dumps(payload).encode() + b"\n"
    began = time.monotonic()
    try:
        async with asyncio.timeout(hook.settings.timeout_seconds) as deadline:
            code = await _start(hook, resolved, given, output, around)
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise HookError(f"did not end within {hook.settings.timeout_seconds:g} s") from error
    except OSError as error:
        fix = CHMOD if isinstance(error, PermissionError) else ""
        raise HookError(f"cannot be started: {error.strerror or error}{fix}") from error
    if code is None:
        raise HookError(f"printed more than {LONGEST_ANSWER:,} bytes in {time.monotonic() - began:.1f} s")
    return read_answer(hook.settings.on, code, bytes(output.stdout), output.reason)


async def _start(hook: Hook, resolved: Resolved, given: bytes, output: Output, around: Surroundings) -> int | None:
    env = command_environment(around.environ, f"{MARKER}={hook.name}")

    async def run(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> int | None:
        return await run_process(
            argv, cwd=cwd, env=env, on_stdout=output.take, on_stderr=output.take_error, input_bytes=given
        )

    if not hook.settings.sandbox:
        if around.sandbox_required:
            raise HookError("would run without a sandbox, but your settings require one")
        return await run(resolved.argv, resolved.cwd, env)
    from tark_lsp.sandbox.plan import Needs
    from tark_lsp.sandbox.sandbox import NotSandboxed

    sandbox = around.sandbox()
    if sandbox is None:
        raise _not_confined(hook, "it is turned off")
    needs = Needs(read_only=True, network=hook.settings.network, readable=own_files(hook, resolved, around.folders))

    async def start(prepared: "Run") -> int | None:
        output.stdout.clear()
        return await run(prepared.argv, prepared.cwd, prepared.env)

    try:
        code, _ = await sandbox.execute(resolved.argv, resolved.cwd, env, start, needs)
    except NotSandboxed as error:
        raise _not_confined(hook, str(error)) from error
    return code


def _not_confined(hook: Hook, why: str) -> HookError:
    own = "set sandbox = false for this hook if you trust it"
    fix = own if hook.source is None else "a hook of a project always runs in the sandbox"
    return HookError(f"cannot run in the sandbox ({why}); {fix}")


def own_files(hook: Hook, resolved: Resolved, folders: Sequence[Path]) -> tuple[Path, ...]:
    """The files outside the workspace that the user's own command names. Without them, the sandbox would hide a script
    in the home folder."""
    if hook.source is not None:
        return ()
    words = (Path(word) for word in resolved.argv if word.startswith("/"))
    real = [path.resolve() for path in words if path.is_file()]
    shown = [*folders, *map(Path, SYSTEM)]
    return tuple(dict.fromkeys(path for path in real if not any(path.is_relative_to(folder) for folder in shown)))
