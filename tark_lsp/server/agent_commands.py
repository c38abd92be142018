"""`tark.agents.*`: the custom agents, and the approval of those that a project offers.

What approvals need is loaded with the first of them: nothing of MCP servers is otherwise.
"""

import time
from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import McpError, RequestError
from tark_lsp.server.commands import Command
from tark_lsp.server.prompting.custom_agents import CustomAgents
from tark_lsp.server.protocol import command_payloads


class AgentCommands:
    def __init__(self, agents: CustomAgents) -> None:
        self._agents = agents

    def commands(self) -> Iterable[Command]:
        yield Command("tark.agents.list", command_payloads.Nothing, self.list_all)
        yield Command("tark.agents.show", command_payloads.ServerName, self.show)
        yield Command("tark.agents.approve", command_payloads.ShownServer, self.approve)
        yield Command("tark.agents.remove", command_payloads.ServerName, self.remove)

    async def list_all(self, _: command_payloads.Nothing) -> dict[str, Any]:
        """All of them, also offers that are not approved."""
        note = self._agents.unread_note()
        agents = [self._agents.json(agent) for agent in self._agents.find_all().values()]
        return {"agents": agents, "problems": [note] if note else []}

    async def show(self, request: command_payloads.ServerName) -> dict[str, Any]:
        """What it can do and its whole file, compared with what was approved."""
        from tark_lsp.agent_offers import pin_of, shown_agent
        from tark_lsp.mcp.approving import compared

        agent = self._agents.existing(request.name)
        pin, approved = pin_of(agent, self._agents.pins()), self._agents.is_usable(agent)
        shown = compared(pin.shown if pin is not None and not approved else (), shown_agent(agent))
        text = "\n".join(shown.lines) + "\n"
        return {"text": text, "isDiff": shown.is_diff, "digest": agent.digest, "approved": approved}

    async def approve(self, request: command_payloads.ShownServer) -> dict[str, Any]:
        """What `show` has shown with this digest."""
        from tark_lsp.agent_offers import approve

        agent = self._agents.existing(request.name)
        if not agent.is_offer:
            raise RequestError("it is your own agent, which needs no approval")
        if agent.digest != request.digest:
            raise RequestError("it changed meanwhile", hint="show it again")
        try:
            approve(agent, self._agents.pins(), time.time())
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error
        return {"approved": True}

    async def remove(self, request: command_payloads.ServerName) -> dict[str, Any]:
        """The approval. `left`: the file, which stays."""
        from tark_lsp.agent_offers import remove_approval

        agent = self._agents.existing(request.name)
        if not agent.is_offer:
            raise RequestError("it is your own agent", hint=f"delete {agent.source.name}")
        try:
            remove_approval(agent, self._agents.pins())
        except McpError as error:
            raise RequestError(error.message, hint=error.hint) from error
        return {"left": str(agent.source.path)}
