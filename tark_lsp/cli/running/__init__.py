"""`tark-lsp run`: its options, files, questions, output and exit codes."""
