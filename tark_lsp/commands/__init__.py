"""Reads the text of a shell command, and says what is certain about it (docs/commands.md). Pure."""
