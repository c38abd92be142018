"""Creates the observer that exports spans, and imports it only if the environment asks for spans."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tark_lsp.telemetry.otel_environment import is_tracing_requested

if TYPE_CHECKING:
    from tark_lsp.telemetry.tracing import Tracing


def create_tracing(environ: Mapping[str, str], say: Callable[[str], None]) -> "Tracing | None":
    """None if the environment does not ask for spans. `say` is called at most once: why no spans are sent."""
    if not is_tracing_requested(environ):
        return None
    from tark_lsp.telemetry.tracing import Tracing

    return Tracing(environ, say)
