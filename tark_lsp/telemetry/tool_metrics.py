"""Metrics of tool calls: a counter and a histogram of their durations. Imported only if they are exported.

The histogram has the name of OpenTelemetry's GenAI conventions; the counter is ours, as the conventions have none for
single calls. No attribute contains an argument, a path or a message: only names of tools, states and codes.
https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai, as of November 2026).
"""

from opentelemetry.metrics import Meter

from tark_lsp.agent.call_figures import CallFigures, CallMeter
from tark_lsp.agent.events import CallChanged
from tark_lsp.telemetry.observed_turn import ObservedTurn

BOUNDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.5, 41.0, 82.0, 164.0, 330.0, 660.0)
"""Seconds. A test run takes up to ten minutes."""


class ToolMetrics:
    """Times `at` are in nanoseconds since 1970, as those of `TurnSpans`."""

    def __init__(self, meter: Meter) -> None:
        self._calls = meter.create_counter("tark.tool.calls", "{call}", "Tool calls that have ended.")
        self._seconds = meter.create_histogram(
            "gen_ai.execute_tool.duration",
            "s",
            "How long tool calls took, without waiting for the user.",
            explicit_bucket_boundaries_advisory=BOUNDS,
        )
        self._meters: dict[str, CallMeter] = {}

    def event(self, at: int, record: ObservedTurn, event: CallChanged) -> None:
        meter = self._meters.setdefault(record.id, CallMeter())
        if (figures := meter.event(at / 1e9, event)) is not None:
            self._add(figures)

    def ended(self, at: int, record: ObservedTurn) -> None:
        if (meter := self._meters.pop(record.id, None)) is not None:
            for figures in meter.end(at / 1e9):
                self._add(figures)

    def _add(self, call: CallFigures) -> None:
        attributes: dict[str, str | bool] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.tool}
        attributes |= {"tark.tool.status": call.status.value}
        if call.code:
            attributes["error.type"] = call.code
        self._calls.add(1, {**attributes, "tark.tool.retry": call.retry})
        if call.seconds is not None:
            self._seconds.record(call.seconds, attributes)
