"""What `tark-lsp mcp` consists of: servers in config.toml, their files in other programs, and their approval."""
