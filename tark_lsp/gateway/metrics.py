"""Counts requests, tokens, times and errors of the gateway by model, and writes them in Prometheus's format. Pure.

No label contains text of a body. https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tark_lsp.messages import Usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Buckets of the histograms, in seconds."""

MAX_MODELS = 100
OTHER = "other"
"""The label for further models after MAX_MODELS: a client can send any number of model names."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one request ended. `model` is `<provider>/<model>`; "" if the request was refused before it was known.

    `end`: `completed`, `incomplete`, `failed`, `refused` (an error instead of an answer) or `left` (the client
    disconnected). `code`: that of the error; "" if there is none. `seconds`: from the end of the body to the end.
    `first`: seconds until the model's first event; None if there was none.
    """

    model: str
    end: str
    code: str = ""
    seconds: float = 0.0
    first: float | None = None
    usage: Usage | None = None


@dataclass(slots=True)
class _Histogram:
    """`counts`: one for each bound, and one for values above all bounds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(BOUNDS, value)] += 1
        self.total += value


class Metrics:
    """`listeners` get each outcome. `running`: how many requests run now."""

    def __init__(self, running: Callable[[], int] = lambda: 0) -> None:
        self.listeners: list[Callable[[Outcome], None]] = []
        self._running = running
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._tokens: Counter[tuple[str, str]] = Counter()
        self._seconds: dict[str, _Histogram] = {}
        self._first: dict[str, _Histogram] = {}

    def observe(self, outcome: Outcome) -> None:
        model = outcome.model
        if model not in self._seconds and len(self._seconds) >= MAX_MODELS:
            model = OTHER
        self._requests[model, outcome.end, outcome.code] += 1
        self._seconds.setdefault(model, _Histogram()).add(outcome.seconds)
        if outcome.first is not None:
            self._first.setdefault(model, _Histogram()).add(outcome.first)
        if (usage := outcome.usage) is not None:
            for kind, count in tokens_of(usage):
                self._tokens[model, kind] += count
        for listener in self.listeners:
            listener(outcome)

    def as_text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _head("tark_gateway_running", "gauge", "Requests that run now.")
        yield f"tark_gateway_running {self._running()}"
        yield from _head("tark_gateway_requests_total", "counter", "Requests by model, end and code of the error.")
        for (model, end, code), count in sorted(self._requests.items()):
            yield f"tark_gateway_requests_total{_labels(model=model, end=end, code=code)} {count}"
        yield from _head("tark_gateway_tokens_total", "counter", "Tokens; cached are input, too, and reasoning output.")
        for (model, kind), count in sorted(self._tokens.items()):
            yield f"tark_gateway_tokens_total{_labels(model=model, kind=kind)} {count}"
        yield from _histograms("tark_gateway_request_seconds", "How long requests took.", self._seconds)
        yield from _histograms(
            "tark_gateway_first_event_seconds", "How long until the model said something.", self._first
        )


def tokens_of(usage: Usage) -> Iterator[tuple[str, int]]:
    yield "input", usage.input_tokens
    yield "cached", usage.cached_tokens
    yield "output", usage.output_tokens
    yield "reasoning", usage.reasoning_tokens


def _histograms(name: str, help_: str, histograms: dict[str, _Histogram]) -> Iterator[str]:
    yield from _head(name, "histogram", help_)
    for model, histogram in sorted(histograms.items()):
        count = 0
        for bound, more in zip([*map(str, BOUNDS), "+Inf"], histogram.counts, strict=True):
            count += more
            yield f"{name}_bucket{_labels(model=model, le=bound)} {count}"
        yield f"{name}_sum{_labels(model=model)} {histogram.total:.6f}"
        yield f"{name}_count{_labels(model=model)} {count}"


def _head(name: str, kind: str, help_: str) -> tuple[str, str]:
    return f"# HELP {name} {help_}", f"# TYPE {name} {kind}"


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
