"""Runs a command line in a sandbox of the operating system (docs/sandbox.md). Knows no tools, editors or models."""
