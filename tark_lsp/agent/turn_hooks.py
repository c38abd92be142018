"""TurnHooks: the hooks of one turn, and a function that runs them. `server/` provides it: `agent/` does no I/O."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tark_lsp.errors import HookError

if TYPE_CHECKING:  # loaded with the first hook
    from tark_lsp.hook_settings import HookEvent
    from tark_lsp.hooks.hook import Hook, HookAnswer


async def _nothing(hook: "Hook", payload: Mapping[str, Any]) -> "HookAnswer":  # noqa: ARG001  # the signature
    raise HookError("cannot run here")


@dataclass(frozen=True, slots=True)
class TurnHooks:
    """`run` gives a hook its JSON and returns its answer, or raises HookError."""

    hooks: Sequence["Hook"] = ()
    run: Callable[["Hook", Mapping[str, Any]], Awaitable["HookAnswer"]] = _nothing

    def listening(self, event: "HookEvent", tool: str = "", *paths: str) -> list["Hook"]:
        """The hooks for this event, in the order of the settings. `paths`: the paths of an edit."""
        return [hook for hook in self.hooks if any(hook.listens(event, tool, path) for path in paths or ("",))]


NO_HOOKS = TurnHooks()
