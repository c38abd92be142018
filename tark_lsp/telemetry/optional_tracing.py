"""Creates the observer that exports spans and metrics, and imports it only if the environment asks for them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tark_lsp.telemetry.otel_environment import requested_signals

if TYPE_CHECKING:
    from tark_lsp.telemetry.tracing import Tracing


def create_tracing(environ: Mapping[str, str], say: Callable[[str], None]) -> "Tracing | None":
    """None if the environment asks for nothing. `say` is called at most once: why something is not sent."""
    if not requested_signals(environ):
        return None
    from tark_lsp.telemetry.tracing import Tracing

    return Tracing(environ, say)
