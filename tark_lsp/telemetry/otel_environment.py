"""Whether the environment of the server asks for OpenTelemetry spans and metrics, by the standard variables."""

from collections.abc import Mapping
from enum import StrEnum

ENDPOINT, PROTOCOL = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"


class Signal(StrEnum):
    """What is sent, by its name in the variables."""

    TRACES = "TRACES"
    METRICS = "METRICS"


NAMES: Mapping[Signal, str] = {Signal.TRACES: "spans", Signal.METRICS: "metrics"}


def requested_signals(environ: Mapping[str, str]) -> tuple[Signal, ...]:
    """An empty variable counts as not set."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    return tuple(signal for signal in Signal if _is_requested(signal, environ))


def protocol_of(signal: Signal, environ: Mapping[str, str]) -> str:
    """Empty if the environment names none."""
    names = (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", PROTOCOL)
    return next((value for name in names if (value := environ.get(name, "").strip())), "")


def _is_requested(signal: Signal, environ: Mapping[str, str]) -> bool:
    none = environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() == "none"
    endpoints = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", ENDPOINT)
    return not none and any(environ.get(name, "").strip() for name in endpoints)
