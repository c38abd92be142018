"""Completions of `tark-lsp`, one file for each shell, all from the same table (command_table.py)."""
