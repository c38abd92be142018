"""Exports spans to an OTLP receiver over HTTP, with OpenTelemetry's SDK. Imported in a thread, with the first turn.

The exporter has its own HTTP client (requests), with proxies and certificates from its own environment variables. Only
the environment says where it sends to. A thread of the SDK sends the spans, and drops those it cannot keep up with.
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
    """`close` sends the remaining spans, and blocks until that is done."""

    spans: TurnSpans
    close: Callable[[], None]


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
        log.warning("spans cannot be sent: %s%s (logged once)", record.getMessage(), self._before)


def connect() -> Receiver:
    """Raises what the library raises for an environment variable with a wrong value."""
    first_failure = _FirstFailure()
    library = logging.getLogger(LIBRARY)
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    library.propagate = False
    library.addHandler(first_failure)

    def close() -> None:
        provider.shutdown()
        library.removeHandler(first_failure)
        library.propagate = True

    return Receiver(TurnSpans(provider.get_tracer("tark_lsp", __version__)), close)


def _resource() -> Resource:
    """The environment (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) takes precedence over our values."""
    ours = {"service.name": AGENT, "service.version": __version__}
    return Resource.create({**ours, **OTELResourceDetector().detect().attributes})
