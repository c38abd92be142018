"""Whether the person's environment asks for spans; apart, so that nothing else is imported where it does not."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tark_lsp.telemetry.tracing import Tracing

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def tracing_of(environ: Mapping[str, str], say: Callable[[str], None]) -> "Tracing | None":
    """None where nobody wants it; `say` is told once why there are no spans."""
    if not is_wanted(environ):
        return None
    from tark_lsp.telemetry.tracing import Tracing

    return Tracing(environ, say)


def is_wanted(environ: Mapping[str, str]) -> bool:
    """By the standard variables; an empty one is one that is not set."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    none = environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    return not (disabled or none) and any(environ.get(name, "").strip() for name in ENDPOINTS)
