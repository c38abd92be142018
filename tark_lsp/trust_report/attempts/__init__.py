"""Attempts to get out of the sandbox, and what they are about (driver.py). A copy of the package runs inside."""
