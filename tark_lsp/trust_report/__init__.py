"""The promises of docs/safety.md as experiments, and the report about them (`tark-lsp trust-report`).

Each module in `promises/` with a `PROMISE` is one row. To add a row, add a module.
"""
