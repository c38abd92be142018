"""The user's approval of a project's agent: it covers the whole file, by its digest. A changed file needs a new one."""

from collections.abc import Mapping
from enum import StrEnum

from tark_lsp.context.agents import Agent
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Risk
from tark_lsp.visible import visible_code


class AgentState(StrEnum):
    """The same states as those of hooks and servers (server/mcp_list/rows.py). The user's own agents are approved."""

    APPROVED = "approved"
    WAITING = "waiting"
    CHANGED = "changed"


REASONS: Mapping[AgentState, str] = {
    AgentState.APPROVED: "",
    AgentState.WAITING: "you have not approved it",
    AgentState.CHANGED: "it changed since you approved it",
}


def known_tools() -> Mapping[str, bool]:
    """The names of all tools, each with whether it only reads."""
    return {name: tool.risk is Risk.READ_ONLY and not tool.facts.edits for name, tool in load_tools().items()}


def state_of(agent: Agent, pins: PinStore) -> AgentState:
    if not agent.is_offer:
        return AgentState.APPROVED
    pin = pin_of(agent, pins)
    if pin is None:
        return AgentState.WAITING
    return AgentState.APPROVED if pin.command == agent.digest else AgentState.CHANGED


def pin_of(agent: Agent, pins: PinStore) -> Pin | None:
    return pins.find(agent.name, str(agent.source.path))


def approve(agent: Agent, pins: PinStore, now: float) -> None:
    """Raises McpError if it cannot be stored."""
    shown = tuple(shown_agent(agent))
    pins.write(Pin(agent.name, agent.digest, (), str(agent.source.path), approved=now, shown=shown))


def remove_approval(agent: Agent, pins: PinStore) -> bool:
    """Returns whether there was an approval. Raises McpError."""
    return pins.remove(agent.name, str(agent.source.path))


def shown_agent(agent: Agent) -> list[str]:
    """Lines about what the agent can do, and its whole file, with invisible characters as code points."""
    tools = "all tools" if agent.tools is None else ", ".join(agent.tools) or "no tools"
    without = f", without {', '.join(agent.without)}" if agent.without else ""
    lines = [
        f"the agent {agent.name}, from {agent.source.name}",
        f"  tools: {tools}{without}",
        f"  model: {agent.model or 'that of the session'}",
        f"  mode and approval level: at most {agent.mode} and {agent.level}",
        *(f"  {remark}" for remark in agent.remarks),
        "  the whole file:",
        *(f"    {line}" for line in agent.text.replace("\r\n", "\n").split("\n")),
    ]
    return [visible_code(line) for line in lines]
