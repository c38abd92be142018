"""Facts about models: their types, prices, the shipped table, and how several sources are merged.

The sources, lowest first: this table, the price library (prices.py), the provider's own listing (listing.py), the
user's settings. A higher source overrides a lower one. Facts are never guessed from a similar name.

The figures and words of the table come from the vendors' model pages as of 2026-11-21. The table holds what no price
library has, and the context window, which is needed before the price library has answered.
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Any

from tark_lsp.llm.wire.wire import ThinkingOff, ThinkingStyle
from tark_lsp.messages import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens. `cached`: read from a cache; `cache_write`: written to a cache.

    `above`: pairs (tokens, price), ascending. A prompt with more tokens than that pays this price for all its tokens.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    above: "tuple[tuple[int, Price], ...]" = ()

    def cost_of(self, usage: Usage) -> float:
        """Returns dollars. `input_tokens` includes those of the cache (read and written), `output_tokens` reasoning."""
        price = next((price for tokens, price in reversed(self.above) if usage.input_tokens > tokens), self)
        read, written = usage.cached_tokens, usage.cache_write_tokens
        dollars = max(0, usage.input_tokens - read - written) * price.input + usage.output_tokens * price.output
        dollars += read * (price.input if price.cached is None else price.cached)
        dollars += written * (price.input if price.cache_write is None else price.cache_write)
        return dollars / 1e6


FREE = Price(0.0, 0.0)
"""The price on the user's own machine."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """None, "unknown" and () mean "not known". Sizes are in tokens.

    `efforts`: the model's effort levels, the lowest first. `off`: how its thinking is turned off. `tools`:
    whether it has native tool calls; a model without them writes them as text. `sampling`: whether it accepts
    `temperature` and `top_p`. `tool_search`: whether it loads deferred tools that a search found. `wire`: the best wire
    that the provider offers for this model.
    """

    context_window: int | None = None
    max_output: int | None = None
    thinking: ThinkingStyle = "unknown"
    efforts: tuple[str, ...] = ()
    price: Price | None = None
    tools: bool | None = None
    images: bool | None = None
    wire: str | None = None
    off: ThinkingOff = "unknown"
    sampling: bool | None = None
    tool_search: bool | None = None


NO_FACTS = ModelFacts()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model of a listing. `id` is `<provider>/<model>`; `created`: seconds since 1970, 0 if unknown.

    `thinking`: whether the listing says that the model thinks. `facts` says how to ask for it.
    """

    id: str
    name: str
    facts: ModelFacts = NO_FACTS
    thinking: bool | None = None
    created: float = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """`problems`: one sentence for each provider that has a key and could not be asked."""

    models: tuple[ModelInfo, ...] = ()
    problems: tuple[str, ...] = ()


def merge_facts(*sources: ModelFacts) -> ModelFacts:
    """Merges facts: each comes from the first source that knows it."""
    known: dict[str, Any] = {}
    for source in reversed(sources):
        values = {fact.name: getattr(source, fact.name) for fact in fields(source)}
        known |= {name: value for name, value in values.items() if value != getattr(NO_FACTS, name)}
    return ModelFacts(**known)


def table_facts(ref: str) -> ModelFacts:
    """The table's facts about `<provider>/<model>`, or about the model alone."""
    name = ref.lower()
    names = (name, name.rpartition("/")[2])
    row = next((row for pattern, row in TABLE if any(re.fullmatch(pattern, name) for name in names)), NO_FACTS)
    facts: dict[str, Any] = {}
    if any(re.fullmatch(NO_SAMPLING, name) for name in names):
        facts["sampling"] = False
    if any(re.fullmatch(TOOL_SEARCH, name) for name in names):
        facts["tool_search"] = True
    return replace(row, **facts) if facts else row


def _row(
    window: int | None = None,
    output: int | None = None,
    thinking: ThinkingStyle = "unknown",
    efforts: str = "",
    *,
    off: ThinkingOff = "unknown",
    tools: bool | None = True,
    images: bool | None = True,
) -> ModelFacts:
    return ModelFacts(window, output, thinking, tuple(efforts.split()), tools=tools, images=images, off=off)


def _claude(off: ThinkingOff) -> ModelFacts:
    return _row(1_000_000, 128_000, "adaptive", "low medium high xhigh max", off=off)


_TEXT_ONLY = _row(thinking="none", images=False)
_TEXT_ONLY_NO_TOOLS = _row(thinking="none", tools=False, images=False)

NO_SAMPLING = (
    r"claude-opus-4[.-][78].*|claude-(opus|sonnet|haiku|fable|mythos)-[5-9].*|o[134](-.*)?|gpt-[56](?!.*chat|\.3$).*"
)
"""Models that reject `temperature` and `top_p`: Claude since Opus 4.7, and OpenAI's reasoning models. (Those with the
effort `none` accept them with it; they are left out there, too, and the caller gets a notice.)"""

TOOL_SEARCH = (
    r"claude-(opus|sonnet|haiku)-4[.-][5-8].*|claude-(opus|sonnet|haiku|fable|mythos)-[5-9].*|"
    r"gpt-5\.[4-9](?!.*chat).*|gpt-[6-9].*"
)
"""Models that load deferred tools: the compatibility table of Anthropic's tool search page; OpenAI's since GPT-5.4."""

TABLE: tuple[tuple[str, ModelFacts], ...] = (
    # Anthropic: platform.claude.com, model overviews and "Effort". xhigh came with Opus 4.7, max with Opus 4.6. Since
    # 5.0 they think by default; the migration guide of each model describes how to turn this off.
    (r"claude-(opus|sonnet)-4[.-]6.*", _row(1_000_000, 128_000, "adaptive", "low medium high max", off="unasked")),
    (r"claude-opus-4[.-][78].*", _claude("unasked")),
    (r"claude-(fable|mythos)-[5-9].*|claude-opus-5[.-]5.*", _claude("never")),
    (r"claude-sonnet-5[.-]5.*", _claude("between_tools")),
    (r"claude-(opus|sonnet|haiku)-[5-9].*", _claude("disabled")),
    (r"claude-(opus|haiku|sonnet)-4[.-]5.*", _row(200_000, 64_000, "budget")),
    (r"claude-opus-4.*", _row(200_000, 32_000, "budget")),
    (r"claude-(sonnet-4|3[.-]7-sonnet).*", _row(200_000, 64_000, "budget")),
    (r"claude-3[.-]5.*", _row(200_000, 8_192, "none")),
    (r"claude-3.*", _row(200_000, 4_096, "none")),
    # OpenAI: developers.openai.com, model pages and "Reasoning". The effort `none` exists from 5.1 up to 6.0.
    (r"gpt-6\.[1-9].*", _row(1_050_000, 128_000, "effort", "low medium high xhigh max")),
    (r"gpt-(6|5\.6).*", _row(1_050_000, 128_000, "effort", "none low medium high xhigh max")),
    (r"gpt-5.*chat.*", _row(128_000, 16_384, "none")),
    (r"gpt-5\.[23]-pro.*", _row(400_000, 128_000, "effort", "medium high xhigh")),
    (r"gpt-5\.[45]-pro.*", _row(1_050_000, 128_000, "effort", "medium high xhigh")),
    (r"gpt-5\.4-(mini|nano).*", _row(400_000, 128_000, "effort", "none low medium high xhigh")),
    (r"gpt-5\.[45].*", _row(1_050_000, 128_000, "effort", "none low medium high xhigh")),
    (r"gpt-5\.[23]-codex.*|gpt-5\.1-codex-max.*", _row(400_000, 128_000, "effort", "low medium high xhigh")),
    (r"gpt-5(\.1)?-codex.*", _row(400_000, 128_000, "effort", "low medium high")),
    (r"gpt-5\.3", _row(128_000, 16_384, "none")),
    (r"gpt-5\.2.*", _row(400_000, 128_000, "effort", "none low medium high xhigh")),
    (r"gpt-5\.1.*", _row(400_000, 128_000, "effort", "none low medium high")),
    (r"gpt-5-pro.*", _row(400_000, 272_000, "effort", "high")),
    (r"gpt-5.*", _row(400_000, 128_000, "effort", "minimal low medium high")),
    (r"gpt-4\.1.*", _row(1_047_576, 32_768, "none")),
    (r"gpt-4o.*", _row(128_000, 16_384, "none")),
    (r"o1-mini.*", _row(128_000, 65_536, "none", off="never", tools=False, images=False)),
    (r"o3-mini.*", _row(200_000, 100_000, "effort", "low medium high", images=False)),
    (r"o[134](-.*)?", _row(200_000, 100_000, "effort", "low medium high")),
    (r"gpt-oss[-:].*", _row(131_072, None, "effort", "low medium high", images=False)),
    # Google: ai.google.dev, "Thinking" and model pages; thinking levels since 3, budgets in 2.5.
    (r"gemini-(4|3\.8).*", _row(1_048_576, 65_536, "effort", "low medium high")),
    (r"gemini-3-pro.*", _row(1_048_576, 65_536, "effort", "low high")),
    (r"gemini-3(\.\d)?-pro.*", _row(1_048_576, 65_536, "effort", "low medium high")),
    (r"gemini-3.*", _row(1_048_576, 65_536, "effort", "minimal low medium high")),
    (r"gemini-2\.5.*", _row(1_048_576, 65_536, "budget")),
    (r"gemini-2\.0.*", _row(1_048_576, 8_192, "none")),
    # xAI: docs.x.ai, "Reasoning". Models without effort levels always think or never, and this cannot be changed.
    (r"grok-4\.[67].*", _row(500_000, None, "effort", "low medium high xhigh")),
    (r"grok-4\.5.*", _row(500_000, None, "effort", "low medium high")),
    (r"grok-4\.3.*", _row(1_000_000, None, "effort", "none low medium high")),
    (r"grok-3-mini.*", _row(131_072, None, "effort", "low high", images=False)),
    (r"grok-3.*", _TEXT_ONLY),
    (r"grok-code.*", _row(thinking="none", off="never", images=False)),
    (r"grok-4.*-non-reasoning.*", _row(thinking="none")),
    (r"grok-4.*", _row(thinking="none", off="never")),
    # DeepSeek: api-docs.deepseek.com, "Thinking Mode" and "Models & Pricing". `deepseek-flash` is V4.1 Flash.
    (r"deepseek/deepseek-flash", _row(1_000_000, 384_000, "switch", "low high max")),
    (r"deepseek/deepseek-v4.*", _row(1_000_000, 384_000, "switch", "low high max", images=False)),
    (r"deepseek/deepseek-chat", _TEXT_ONLY),
    (r"deepseek/deepseek-reasoner", _row(thinking="none", off="never", images=False)),
    # Open models as Ollama names them: ollama.com/library, tags "tools", "thinking", "vision".
    (r"ollama/deepseek-r1.*", _row(131_072, None, "switch", tools=False, images=False)),
    (
        r"ollama/(codellama|codegemma|starcoder|deepseek-coder|gemma|gemma2|llama2|phi[34]?|vicuna|llama3)(:.*)?",
        _TEXT_ONLY_NO_TOOLS,
    ),
    (r"ollama/(gemma3n?|llava.*|bakllava)(:.*)?", _row(thinking="none", tools=False)),
    (r"ollama/.*", ModelFacts(thinking="switch")),
)
"""The first row is used whose pattern matches all of `<provider>/<model>`, or all of the part after the last slash."""
