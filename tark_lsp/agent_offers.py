"""What the user approves of a project's agent: the whole file, by its digest. If the file changes, it asks again."""

from collections.abc import Mapping

from tark_lsp.context.agents import Agent
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Risk
from tark_lsp.visible import visible_code

YOURS, APPROVED, CHANGED, NEW = "yours", "approved", "changed since you approved it", "not approved"


def known_tools() -> Mapping[str, bool]:
    """The names of all tools, each with whether it only reads."""
    return {name: tool.risk is Risk.READ_ONLY and not tool.facts.edits for name, tool in load_tools().items()}


def state_of(agent: Agent, pins: PinStore) -> str:
    """For people. It can be used if it is YOURS or APPROVED."""
    if not agent.is_offer:
        return YOURS
    pin = pins.find(agent.name, str(agent.source.path))
    if pin is None:
        return NEW
    return APPROVED if pin.command == agent.digest else CHANGED


def is_usable(agent: Agent, pins: PinStore) -> bool:
    return state_of(agent, pins) in (YOURS, APPROVED)


def approve(agent: Agent, pins: PinStore, now: float) -> None:
    """Raises McpError if it cannot be stored."""
    pins.write(Pin(agent.name, agent.digest, (), str(agent.source.path), approved=now))


def remove_approval(agent: Agent, pins: PinStore) -> bool:
    """Whether there was one. Raises McpError."""
    return pins.remove(agent.name, str(agent.source.path))


def shown_agent(agent: Agent) -> list[str]:
    """What it can do, and its whole file, line by line, with invisible characters as code points."""
    tools = "all tools" if agent.tools is None else ", ".join(agent.tools) or "no tools"
    without = f", without {', '.join(agent.without)}" if agent.without else ""
    lines = [
        f"the agent {agent.name}, from {agent.source.name}",
        f"  tools: {tools}{without}",
        f"  model: {agent.model or 'that of the session'}",
        f"  mode and approval level: at most {agent.mode} and {agent.level}",
        "  the whole file:",
        *(f"    {line}" for line in agent.text.replace("\r\n", "\n").split("\n")),
    ]
    return [visible_code(line) for line in lines]
