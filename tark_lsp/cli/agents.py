"""`tark-lsp agents`: lists the custom agents of this folder, and shows and approves those that the project offers."""

import json
import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.agent_offers import REASONS, approve, known_tools, remove_approval, shown_agent, state_of
from tark_lsp.cli.json_option import parse_with_json
from tark_lsp.cli.offer_parser import new_offer_parser
from tark_lsp.cli.offer_questions import OfferQuestions, require_terminal
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.undo import NoOpenBuffers
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.context.agents import Agent, find_agents
from tark_lsp.context.sources import Sources
from tark_lsp.errors import RequestError
from tark_lsp.folders import agent_pins_folder, user_config_path
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.workspace.files import Workspace

EPILOG = """\
An agent of yours is a file agents/NAME.md beside your config.toml; a project can offer some in .tark/agents and
.claude/agents. An agent of a project cannot be chosen before you have seen its whole file and approved it.
docs/agents.md has the details.
Exit codes: 0 done; 1 not done, or refused; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = parse_with_json(new_parser(), arguments)
    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(stderr=options.json), folder)  # stdout has only JSON
    return run_to_exit_code(_Agents(screen, folder).run(options), screen)


def new_parser() -> ArgumentParser:
    return new_offer_parser(
        "agents",
        "an agent",
        description="List custom agents, and show and approve those of a project.",
        epilog=EPILOG,
    )


class _Agents:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._pins = PinStore(agent_pins_folder)
        sources = Sources(Workspace([folder], NoOpenBuffers()), user_config_path().parent)
        self._agents = find_agents(sources, known_tools, offers=True)
        self._problems = sources.problems

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

    def _find(self, name: str) -> Agent:
        """An agent of the project; the user's own need no approval. Raises RequestError."""
        offered = {name: agent for name, agent in self._agents.items() if agent.is_offer}
        if name not in offered:
            raise RequestError(
                f"this folder offers no agent {one_line(name)!r}", hint=f"it offers: {', '.join(offered) or 'none'}"
            )
        return offered[name]

    def _list(self, *, as_json: bool) -> int:
        for agent in self._agents.values():
            state = state_of(agent, self._pins)
            words = (REASONS[state] or state) if agent.is_offer else "yours"
            if as_json:
                row = {"name": agent.name, "description": agent.description, "path": str(agent.source.path)}
                print(json.dumps({**row, "state": state}))
                continue
            about = f": {whole_line(agent.description)}" if agent.description else ""
            self._screen.print_line(f"{agent.name} ({whole_line(agent.source.name)}): {words}{about}")
        if not (self._agents or as_json):
            self._screen.print_line("there are no agents; docs/agents.md shows how to write one")
        return DONE

    async def _approve(self, agent: Agent) -> int:
        require_terminal()
        for line in shown_agent(agent):
            self._screen.print_line(visible(line), exact=True)
        questions = OfferQuestions(self._screen, self._folder)
        if not await questions.is_trusted("agent") or not await questions.agreed("Approve it, exactly as it is shown?"):
            self._screen.print_line("nothing was approved", "yellow")
            return NOT_DONE
        approve(agent, self._pins, time.time())
        self._screen.print_line(f"approved: {agent.name}", "green")
        return DONE

    def _remove(self, agent: Agent) -> int:
        if not remove_approval(agent, self._pins):
            raise RequestError(f"you have not approved {agent.name}", hint="tark-lsp agents list shows them")
        self._screen.print_line(f"removed: the approval of {agent.name}")
        return DONE
