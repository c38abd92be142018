"""A bench with a window of 10,000 tokens, and what its tests say and look at."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from typing import Any

from tark_lsp.agent.events import Notice
from tark_lsp.context.tokens import text_tokens
from tark_lsp.llm.events import StreamEvent
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, Text, ToolResult
from tark_lsp.tools.tool import Risk
from tests.agent.bench import Bench
from tests.agent.probe import add, probe
from tests.agent.script import Answer, ScriptedModel, answer, call

WORDS = "The quick brown fox jumps over the lazy dog near the river bank today. "


def words(tokens: int) -> str:
    """Lines of about so many tokens."""
    return f"{WORDS}\n" * round(tokens / text_tokens(f"{WORDS}\n"))


@dataclass(slots=True)
class Summarising(ScriptedModel):
    """Writes a summary where it is asked to, whenever that is."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        if request.system.startswith("You write the summary"):
            self.answers.insert(0, answer(SMALL))
        async with aclosing(ScriptedModel.stream(self, request)) as stream:
            async for event in stream:
                yield event


SMALL = "the summary: goals, files, open ends"


def asked(*tokens: int) -> list[Answer]:
    """Answers that call for so many tokens each, and a last one."""
    return [*(answer(call("give", n=token)) for token in tokens), answer("Done.")]


def heard(bench: Bench, kind: type[Any]) -> list[Any]:
    return [event for event in bench.heard if isinstance(event, kind)]


def notices(bench: Bench, level: str) -> str:
    return "\n".join(event.message for event in heard(bench, Notice) if event.level == level)


def sent(bench: Bench, request: int = -1) -> float:
    """Tokens of the messages of a request."""
    return sum(
        text_tokens(part.content if isinstance(part, ToolResult) else getattr(part, "text", ""))
        for message in bench.model.requests[request].messages
        for part in message.parts
    )


def filled(bench: Bench, turns: int = 14) -> None:
    for n in range(turns):
        bench.session.messages += [
            Message("user", (Text(f"question {n}"),)),
            Message("assistant", (Text(words(600)),), bench.model.name),
        ]


def tight_bench(bench: Bench) -> Bench:
    """Little besides the history, in a window of 10,000 tokens, and a tool that gives 1,000."""
    bench.tools = {}
    bench.model.context_window = 10_000
    bench.model.name = "scripted/gpt"  # of which our count is taken as it is

    given = count(1)

    async def give(n: int) -> str:
        return f"number {next(given)}\n{words(n)}"  # else it is taken for going round in circles

    add(bench.tools, probe("give", Risk.READ_ONLY, give))
    return bench
