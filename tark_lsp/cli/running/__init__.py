"""`tark-lsp run`: options, files, questions, output and exit codes."""
