"""A session of hundreds of turns with a scripted model, whose own tokenizer counts otherwise than we do."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from tark_lsp.agent import history
from tark_lsp.agent.events import HistoryCompacted, HistoryShortened, Notice, Requested
from tark_lsp.agent.prompt import USER_SAYS
from tark_lsp.agent.turn import run_turn
from tark_lsp.context.budget import Estimates
from tark_lsp.context.tokens import definition_tokens, message_tokens, text_tokens
from tark_lsp.errors import ContextOverflow
from tark_lsp.llm.events import Done, StreamEvent, TextDelta, ToolCallComplete, ToolCallStart, UsageUpdate, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, Text, Usage
from tark_lsp.settings import Limits
from tests.agent.bench import Bench

GOAL = "Goal: the word MARKER-2026 stays in every file"
COMPACTION = "You write the summary"
SUMMARY = "## State\nFiles were read, one after another, and nothing was changed.\n" * 20
ANSWER = "I looked at the file and found what was asked for; nothing there needs a change. " * 12


@dataclass(slots=True)
class CountingModel:
    """Reads a file in each turn and then answers. Counts `ratio` times what we do, and refuses what is too long.

    `counts` are the tokens of each request, by its own count.
    """

    context_window: int
    ratio: float
    name: str = "scripted/gpt-long"
    max_output_tokens: int | None = 8_000
    is_local: bool = True
    counts: list[int] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        history.check_history(request.messages)
        counted = text_tokens(request.system) + sum(map(definition_tokens, request.tools))
        tokens = round(self.ratio * (counted + sum(map(message_tokens, request.messages))))
        self.counts.append(tokens)
        self.requests.append(request)
        if tokens > self.context_window:
            raise ContextOverflow(f"{tokens} tokens are too many")
        number = len(self.requests)
        if request.system.startswith(COMPACTION):
            yield TextDelta(SUMMARY)
        elif request.messages[-1].role == "user":
            yield ToolCallStart(f"call-{number}", "read_file")
            yield ToolCallComplete(f"call-{number}", f'{{"path": "file_{number % 20}.py"}}')
        else:
            yield TextDelta(ANSWER)
        yield UsageUpdate(Usage(tokens, output_tokens=200))
        yield Done(WireStop.END_TURN)


@dataclass(slots=True)
class LongSession:
    """`compactions`, by turn: how many there were in it; `notices`: what was said with figures."""

    model: CountingModel
    compactions: list[int] = field(default_factory=list)
    shortened: int = 0
    notices: list[str] = field(default_factory=list)
    stop_reasons: set[str] = field(default_factory=set)


async def run_long_session(bench: Bench, turns: int, window: int, ratio: float) -> LongSession:
    for number in range(20):
        bench.write(f"file_{number}.py", "".join(f"value_{line} = compute({line}, {number})\n" for line in range(150)))
    model = CountingModel(window, ratio)
    session, estimates = LongSession(model), Estimates()
    bench.limits = Limits(turn_usd=1e9)
    for number in range(turns):
        bench.heard.clear()
        turn = bench.make()
        turn.resources.model, turn.resources.estimates = model, estimates
        said = GOAL if not number else f"And now look at the next file, number {number}, please."
        turn.request.prompt = Message("user", (Text("You are asked to look.\n\n"), Text(f"{USER_SAYS}{said}")))
        end = await run_turn(turn)
        session.stop_reasons.add(end.stop_reason)
        session.compactions.append(sum(isinstance(event, HistoryCompacted) for event in bench.heard))
        asked = sum(isinstance(event, Requested) and event.purpose == "compaction" for event in bench.heard)
        assert asked == session.compactions[-1], "each compaction that was paid for was worth it"
        session.shortened += sum(isinstance(event, HistoryShortened) for event in bench.heard)
        session.notices += [event.message for event in bench.heard if isinstance(event, Notice)]
    return session
