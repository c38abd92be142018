"""Receipts: what was shown, decided and run, in a chain of hashes (docs/audit.md)."""
