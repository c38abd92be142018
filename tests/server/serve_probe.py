"""Serves the probe as tark itself is served: `python -m tests.server.serve_probe`."""

from typing import TYPE_CHECKING

from tark_lsp.server.handshake import serve_stdio

if TYPE_CHECKING:
    from tark_lsp.server.connection.lsp import Connection


def create() -> "Connection":
    from tests.server.probe import Probe

    return Probe().connection


if __name__ == "__main__":
    serve_stdio(create)
