"""Exports spans and metrics to an OTLP receiver over HTTP, with OpenTelemetry's SDK. Imported in a thread, with the
first turn.

The exporter has its own HTTP client (requests), with proxies and certificates from its own environment variables. Only
the environment says where it sends to. A thread of the SDK sends the spans, and drops those it cannot keep up with;
another one sends the metrics, once a minute.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tark_lsp import __version__
from tark_lsp.agent.events import AgentEvent, CallChanged
from tark_lsp.telemetry.observed_turn import ObservedTurn
from tark_lsp.telemetry.otel_environment import Signal
from tark_lsp.telemetry.spans import AGENT, TurnSpans
from tark_lsp.telemetry.tool_metrics import ToolMetrics

log = logging.getLogger(__name__)

LIBRARY = "opentelemetry"


@dataclass(frozen=True, slots=True)
class Receiver:
    """`close` sends the rest, and blocks until that is done.

    The methods take the time `at` of the event, in nanoseconds since 1970: they can be called later.
    """

    spans: TurnSpans | None
    metrics: ToolMetrics | None
    close: Callable[[], None]

    def accepted(self, at: int, record: ObservedTurn) -> None:
        if self.spans is not None:
            self.spans.accepted(at, record)

    def event(self, at: int, record: ObservedTurn, event: AgentEvent) -> None:
        if self.spans is not None:
            self.spans.event(at, record, event)
        if self.metrics is not None and isinstance(event, CallChanged):
            self.metrics.event(at, record, event)

    def ended(self, at: int, record: ObservedTurn, end: Mapping[str, Any]) -> None:
        if self.spans is not None:
            self.spans.ended(at, record, end)
        if self.metrics is not None:
            self.metrics.ended(at, record)


class _FirstFailure(logging.Handler):
    """Logs the library's first failure, with the warning before it; the library repeats them with every batch."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._before = ""
        self._reported = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._reported:
            return
        if record.levelno < logging.ERROR:
            self._before = f" ({record.getMessage()})"
            return
        self._reported = True
        log.warning("spans or metrics cannot be sent: %s%s (logged once)", record.getMessage(), self._before)


def connect(signals: Sequence[Signal]) -> Receiver:
    """Raises what the library raises for an environment variable with a wrong value."""
    spans = metrics = None
    ends: list[Callable[[], None]] = []
    if Signal.TRACES in signals:
        tracers = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        spans = TurnSpans(tracers.get_tracer("tark_lsp", __version__))
        ends.append(tracers.shutdown)
    if Signal.METRICS in signals:
        meters = new_meters()
        metrics = ToolMetrics(meters.get_meter("tark_lsp", __version__))
        ends.append(meters.shutdown)
    stop_listening = listen_to_library()

    def close() -> None:
        for end in ends:
            end()
        stop_listening()

    return Receiver(spans, metrics, close)


def new_meters() -> MeterProvider:
    """Sends metrics to where the environment says. Raises what the library raises for a wrong value there."""
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    return MeterProvider([reader], _resource(), shutdown_on_exit=False)


def listen_to_library() -> Callable[[], None]:
    """Only the library's first failure is logged, until the returned function is called."""
    first_failure = _FirstFailure()
    library = logging.getLogger(LIBRARY)
    library.propagate = False
    library.addHandler(first_failure)

    def stop() -> None:
        library.removeHandler(first_failure)
        library.propagate = True

    return stop


def _resource() -> Resource:
    """The environment (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) takes precedence over our values."""
    ours = {"service.name": AGENT, "service.version": __version__}
    return Resource.create({**ours, **OTELResourceDetector().detect().attributes})
