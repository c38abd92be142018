"""Serves the probe as tark itself is served: `python -m tests.server.serve_probe`."""

from typing import TYPE_CHECKING

from tark_lsp.server.handshake import serve_stdio

if TYPE_CHECKING:
    from tark_lsp.server.connection.server import TarkServer


def create() -> "TarkServer":
    from tests.server.probe import Probe

    return Probe().server


if __name__ == "__main__":
    serve_stdio(create)
