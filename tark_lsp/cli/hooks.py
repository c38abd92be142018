"""`tark-lsp hooks`: lists the hooks of this folder, and shows and approves those that the project offers."""

import json
import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.agent.hook_problems import hook_problems
from tark_lsp.cli.json_option import parse_with_json
from tark_lsp.cli.offer_parser import new_offer_parser
from tark_lsp.cli.offer_questions import OfferQuestions, require_terminal
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.errors import McpError, RequestError
from tark_lsp.folders import hook_pins_folder, user_config_path
from tark_lsp.hooks.hook import Hook
from tark_lsp.hooks.pinning import approve, is_approved, read_offers, resolve_hook, shown_hook
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.settings_loading import load_settings
from tark_lsp.tools import load_tools
from tark_lsp.visible import visible_code

EPILOG = """\
A hook of yours is a table [[hooks]] in your config.toml; a project can offer some in .tark/hooks.toml. A hook of a
project does not run before you approve its exact command. docs/hooks.md has the events and the JSON.
Exit codes: 0 done; 1 not done, or refused; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = parse_with_json(new_parser(), arguments)
    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(stderr=options.json), folder)  # stdout has only JSON
    return run_to_exit_code(_Hooks(screen, folder).run(options), screen)


def new_parser() -> ArgumentParser:
    return new_offer_parser(
        "hooks",
        "a hook",
        description="List hooks, and show and approve those of a project.",
        epilog=EPILOG,
    )


class _Hooks:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._pins = PinStore(hook_pins_folder)
        settings, problems = load_settings(user_file=user_config_path(), environ=os.environ)
        self._own = [Hook(one) for one in settings.hooks]
        offers = read_offers([folder], [hook.name for hook in self._own])
        self._offered = offers.hooks
        in_effect = hook_problems([*self._own, *offers.hooks], load_tools())
        self._problems = [*problems, *offers.problems, *in_effect]

    async def run(self, options: Namespace) -> int:
        for problem in self._problems:
            self._screen.print_line(whole_line(problem), "yellow")
        match options.what:
            case "approve":
                return await self._approve(self._find(options.name))
            case "remove":
                return self._remove(self._find(options.name))
            case _:
                return self._list(as_json=options.json)

    def _find(self, name: str) -> Hook:
        """A hook of the project; the user's own need no approval. Raises RequestError."""
        for hook in self._offered:
            if hook.name == name:
                return hook
        known = ", ".join(hook.name for hook in self._offered) or "none"
        raise RequestError(f"this folder offers no hook {one_line(name)!r}", hint=f"it offers: {known}")

    def _list(self, *, as_json: bool) -> int:
        for hook in (*self._own, *self._offered):
            state, runs = self._state(hook)
            source = "" if hook.source is None else str(hook.source)
            if as_json:
                row = {"name": hook.name, "on": hook.settings.on, "source": source, "state": state, "runs": runs}
                print(json.dumps(row))
                continue
            shown = f" ({whole_line(source)})" if source else ""
            self._screen.print_line(f"{hook.name}{shown}, {hook.settings.on}: {whole_line(state)}: {whole_line(runs)}")
        if not (self._own or self._offered or as_json):
            self._screen.print_line("there are no hooks; docs/hooks.md shows how to write one")
        return DONE

    def _state(self, hook: Hook) -> tuple[str, str]:
        try:
            resolved = resolve_hook(hook, [self._folder])
        except McpError as error:
            return error.message, " ".join([hook.settings.command, *hook.settings.args])
        if not hook.settings.enabled:
            return "disabled", resolved.shown
        if hook.source is None:
            return "yours", resolved.shown
        if is_approved(hook, resolved.digest, self._pins):
            return "approved", resolved.shown
        changed = self._pins.find(hook.name, str(hook.source)) is not None
        return ("changed since you approved it" if changed else "not approved"), resolved.shown

    async def _approve(self, hook: Hook) -> int:
        require_terminal()
        resolved = resolve_hook(hook, [self._folder])
        self._screen.print_line(f"from {whole_line(str(hook.source))}", "bold")
        shown = shown_hook(hook, resolved)
        for line in shown:
            self._screen.print_line(visible(visible_code(line)), exact=True)
        questions = OfferQuestions(self._screen, self._folder)
        if not await questions.is_trusted("hook") or not await questions.agreed("Let it run, exactly as it is shown?"):
            self._screen.print_line("nothing was approved", "yellow")
            return NOT_DONE
        approve(hook, resolved.digest, shown, self._pins, time.time())
        self._screen.print_line(f"approved: {hook.name}", "green")
        return DONE

    def _remove(self, hook: Hook) -> int:
        if not self._pins.remove(hook.name, str(hook.source)):
            raise RequestError(f"you have not approved {hook.name}", hint="tark-lsp hooks list shows the hooks")
        self._screen.print_line(f"removed: the approval of {hook.name}")
        return DONE
