"""Runs a command line in a sandbox of the operating system (docs/sandbox.md).

Independent of tools, editors and models.
"""

JOURNAL = "sandbox-journal"
"""The folder, inside Tark's state folder, with one file for each run that has not ended."""
