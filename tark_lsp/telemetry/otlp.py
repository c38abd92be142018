"""Spans to an OTLP receiver over HTTP, by OpenTelemetry's own SDK; imported in a thread, at the first turn.

The exporter has an HTTP client of its own (requests), with the proxies and certificates of its own variables; it is
told where to send by the person's environment alone. A thread of the SDK sends; what it cannot keep up with is dropped.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tark_lsp import __version__
from tark_lsp.telemetry.spans import AGENT, TurnSpans

log = logging.getLogger(__name__)

LIBRARY = "opentelemetry"


@dataclass(frozen=True, slots=True)
class Receiver:
    """`close` sends what is left, and blocks for as long as that takes."""

    spans: TurnSpans
    close: Callable[[], None]


class _SaidOnce(logging.Handler):
    """Of what the library logs the first failure, with what went before it; it fails anew with every batch."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._before = ""
        self._said = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._said:
            return
        if record.levelno < logging.ERROR:
            self._before = f" ({record.getMessage()})"
            return
        self._said = True
        log.warning("spans do not get through: %s%s; said once", record.getMessage(), self._before)


def connect() -> Receiver:
    """Raises what the library raises of a variable that is wrong."""
    said_once = _SaidOnce()
    library = logging.getLogger(LIBRARY)
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    library.propagate = False
    library.addHandler(said_once)

    def close() -> None:
        provider.shutdown()
        library.removeHandler(said_once)
        library.propagate = True

    return Receiver(TurnSpans(provider.get_tracer("tark_lsp", __version__)), close)


def _resource() -> Resource:
    """What the person's variables say (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) goes before ours."""
    ours = {"service.name": AGENT, "service.version": __version__}
    return Resource.create({**ours, **OTELResourceDetector().detect().attributes})
