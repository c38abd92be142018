"""Receipts: a hash chain of what was shown, decided and run (docs/audit.md)."""
