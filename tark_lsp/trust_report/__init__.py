"""The promises of docs/safety.md as experiments, and the report about them (`tark-lsp trust-report`).

Each file of `promises/` that has a `PROMISE` is one row: add a file, and the row exists.
"""
