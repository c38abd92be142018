"""The server the benchmarks measure against: pygls as it comes, with one handler."""

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("stock", "1")


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(_params: types.HoverParams) -> types.Hover | None:
    return None


if __name__ == "__main__":
    server.start_io()
