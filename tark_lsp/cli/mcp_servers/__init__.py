"""The parts of `tark-lsp mcp`: the approval of servers, logins, tests, and the import from other programs."""
