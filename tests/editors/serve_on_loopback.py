"""Serves tark as it is, but that `fetch` may connect to loopback alone: `python -m tests.editors.serve_on_loopback`."""

import sys
from functools import partial

from tark_lsp.cli import main
from tark_lsp.tools import fetch
from tark_lsp.tools.web import get_page

if __name__ == "__main__":
    fetch.TOOL = fetch.fetch_tool(partial(get_page, allowed=lambda address: address == "127.0.0.1"))
    sys.exit(main())
