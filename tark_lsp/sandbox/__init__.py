"""Runs a command line in a sandbox of the operating system (docs/sandbox.md). Knows no tools, editors or models."""

JOURNAL = "sandbox-journal"
"""The folder, in that of our state, with one file for each run that has not ended."""
