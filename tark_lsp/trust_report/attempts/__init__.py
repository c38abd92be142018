"""Attempts to escape from the sandbox, and their targets (driver.py). A copy of this package runs inside."""
