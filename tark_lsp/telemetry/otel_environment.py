"""Whether the environment of the server asks for OpenTelemetry spans, by the standard variables."""

from collections.abc import Mapping

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def is_tracing_requested(environ: Mapping[str, str]) -> bool:
    """An empty variable counts as not set."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    none = environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    return not (disabled or none) and any(environ.get(name, "").strip() for name in ENDPOINTS)
