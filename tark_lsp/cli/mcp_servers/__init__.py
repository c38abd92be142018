"""The parts of `tark-lsp mcp`: the approval of servers, logins, and the files of other programs."""
