"""The `tark-lsp` command: one file per subcommand, imported when called."""
