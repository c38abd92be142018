"""Metrics of the gateway's requests: durations, time to the first event, tokens. Imported only if they are exported.

The names are those of OpenTelemetry's GenAI conventions. No attribute contains anything of a body: only names of
models, ends and codes.
https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai, as of November 2026).
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from opentelemetry.metrics import Meter

from tark_lsp import __version__
from tark_lsp.messages import Usage
from tark_lsp.telemetry.otlp import listen_to_library, new_meters

BOUNDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Seconds, as the conventions advise."""

TOKEN_BOUNDS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)


class ServedRequest(Protocol):
    """A request that has ended, as the gateway counts it."""

    @property
    def model(self) -> str: ...

    @property
    def end(self) -> str: ...

    @property
    def code(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    @property
    def first(self) -> float | None: ...

    @property
    def usage(self) -> Usage | None: ...


class GatewayMetrics:
    """`observe` is told of each request."""

    def __init__(self, meter: Meter) -> None:
        def histogram(name: str, unit: str, text: str, bounds: tuple[float, ...]) -> Callable[..., None]:
            return meter.create_histogram(name, unit, text, explicit_bucket_boundaries_advisory=bounds).record

        self._seconds = histogram("gen_ai.server.request.duration", "s", "How long requests took.", BOUNDS)
        self._first = histogram(
            "gen_ai.server.time_to_first_token", "s", "How long until the model said something.", BOUNDS
        )
        self._tokens = histogram("gen_ai.client.token.usage", "{token}", "Tokens of requests.", TOKEN_BOUNDS)

    def observe(self, request: ServedRequest) -> None:
        provider, _, model = request.model.partition("/")
        attributes: Mapping[str, str] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "tark.gateway.end": request.end,
        }
        ended = {**attributes, "error.type": request.code} if request.code else attributes
        self._seconds(request.seconds, ended)
        if request.first is not None:
            self._first(request.first, attributes)
        if request.usage is not None:
            self._tokens(request.usage.input_tokens, {**attributes, "gen_ai.token.type": "input"})
            self._tokens(request.usage.output_tokens, {**attributes, "gen_ai.token.type": "output"})


def connect() -> tuple[GatewayMetrics, Callable[[], None]]:
    """The metrics, and what sends the last ones, which blocks until that is done. Raises what the library raises."""
    meters, stop_listening = new_meters(), listen_to_library()

    def close() -> None:
        meters.shutdown()
        stop_listening()

    return GatewayMetrics(meters.get_meter("tark_lsp", __version__)), close
