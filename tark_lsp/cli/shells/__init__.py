"""Shell completions of `tark-lsp`, one module for each shell, all from the same table (command_table.py)."""
