"""`/agent`: selects the custom agent of the session, approves one of the project, or sends a prompt to one."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.context.agents import NO_AGENT
from tark_lsp.errors import RequestError

Row = Mapping[str, Any]


class AgentCommand:
    def __init__(self, conversation: Conversation, keyboard: AnswerInput) -> None:
        self._chat = conversation
        self._keyboard = keyboard
        self._screen = conversation.screen

    async def run(self, wanted: str) -> None:
        """`NAME TEXT` sends a prompt. `NAME` alone selects the agent of the session. Without a name, the agents are
        listed."""
        name, _, words = wanted.partition(" ")
        if words.strip():
            self._chat.send_prompt(f"/agent {wanted}")
            return
        listed = await self._chat.command("tark.agents.list")
        for problem in listed["problems"]:
            self._screen.print_line(one_line(problem, 300), "yellow")
        agents = {agent["name"]: agent for agent in listed["agents"]}
        chosen = name.lower() or await self._pick(list(agents.values()))
        found = agents.get(chosen or "")
        if found is not None and found["state"] != "approved" and not await self._approved(found):
            self._screen.print_line("nothing was approved", "yellow")
            chosen = None
        if chosen:
            await self._chat.current.change_settings(agent=chosen)
        facts = self._chat.session.facts
        shown = f"{facts.agent} ({facts.model or 'no model yet'}, {facts.mode}, {facts.approval})"
        self._screen.print_line(f"agent: {one_line(shown, 200) if facts.agent else NO_AGENT}")

    async def _pick(self, agents: Sequence[Row]) -> str | None:
        if not agents:
            self._screen.print_line("there are no agents; docs/agents.md shows how to write one", "dim")
            return None
        names = [NO_AGENT, *(agent["name"] for agent in agents)]
        abouts = ["", *(_about(agent) for agent in agents)]
        now = self._chat.session.facts.agent or NO_AGENT
        for number, (name, about) in enumerate(zip(names, abouts, strict=True)):
            mark, style = ("*", "bold") if name == now else (" ", "none")
            self._screen.print_line(f"{number:3} {mark} {name}{about}", style)
        typed = await self._keyboard.ask("number (Enter: no change): ")
        if not typed:
            return None
        if not (typed.isascii() and typed.isdecimal() and int(typed) < len(names)):
            raise RequestError(f"{one_line(typed)} is not one of these numbers")
        return str(names[int(typed)])

    async def _approved(self, agent: Row) -> bool:
        shown = await self._chat.command("tark.agents.show", {"name": agent["name"]})
        for line in shown["text"].split("\n"):
            self._screen.print_line(visible(line), exact=True)
        answer = await self._keyboard.ask("Approve it, exactly as it is shown? [y]es, [n]o: ", "yn")
        if (answer or "")[:1].lower() != "y":
            return False
        await self._chat.command("tark.agents.approve", {"name": agent["name"], "digest": shown["digest"]})
        return True


def _about(agent: Row) -> str:
    reason = f", {agent['reason']}" if agent["reason"] else ""
    state = f" (of the project{reason})" if agent["origin"] == "project" else ""
    described = f": {one_line(agent['description'], 60)}" if agent["description"] else ""
    return f"{state}{described}"
