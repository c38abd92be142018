"""The hooks of a turn: the user's own, and those of a project that the user approved."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.turn_hooks import NO_HOOKS, TurnHooks
from tark_lsp.folders import hook_pins_folder
from tark_lsp.server.configuration import Configuration
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # loaded with the first hook
    from tark_lsp.hooks.hook import Hook, HookAnswer
    from tark_lsp.sandbox.sandbox import Sandbox

OFFERS = (".tark", "hooks.toml")
"""The same as in hooks/pinning.py, which is imported only if there are hooks."""


class HookCommands:
    def __init__(self, configuration: Configuration, sandbox_of: "Callable[[Workspace], Sandbox | None]") -> None:
        self._configuration = configuration
        self._sandbox_of = sandbox_of
        self._told: set[str] = set()
        self.tells_offers = True
        """Whether a turn's notices name the offers. False if the client shows them."""

    def hooks_of(self, workspace: Workspace, *, trusted: bool) -> tuple[TurnHooks, list[str]]:
        """The hooks of a turn, and new notices for the user. If files are changed only in memory, no hook runs."""
        own = self._configuration.settings.hooks
        offered = trusted and any(folder.joinpath(*OFFERS).is_file() for folder in workspace.folders)
        if workspace.in_memory or not (own or offered):
            return NO_HOOKS, []
        from tark_lsp.agent.hook_problems import hook_problems
        from tark_lsp.hooks.hook import Hook
        from tark_lsp.hooks.pinning import read_offers
        from tark_lsp.hooks.running import Surroundings, run_hook
        from tark_lsp.mcp.pin_store import PinStore
        from tark_lsp.tools import load_tools

        hooks, problems = [Hook(settings) for settings in own], list[str]()
        pins = PinStore(hook_pins_folder)
        if offered:
            found = read_offers(workspace.folders, [hook.name for hook in hooks])
            approved = [hook for hook in found.hooks if pins.find(hook.name, str(hook.source)) is not None]
            new = [hook.name for hook in found.hooks if hook not in approved and hook.settings.enabled]
            if new and self.tells_offers:
                problems.append(f"this folder offers hooks ({', '.join(new)}): `tark-lsp hooks approve NAME` shows one")
            problems += found.problems
            hooks = [*approved, *hooks]  # the user's hooks come last, so they see the changes of a project's hooks
        problems += hook_problems(hooks, load_tools())
        around = Surroundings(
            workspace.folders,
            os.environ,
            lambda: self._sandbox_of(workspace),
            self._configuration.settings.sandbox == "require",
            pins,
        )

        async def run(hook: "Hook", payload: Mapping[str, Any]) -> "HookAnswer":
            return await run_hook(hook, payload, around)

        notices = [problem for problem in problems if problem not in self._told]
        self._told.update(notices)
        return TurnHooks(hooks, run), notices
