"""What the user allowed for longer than a session: commands in a workspace, and workspaces that are trusted."""

TRUST, NOT_NOW = "Trust", "Not Now"
"""The answers to the question whether a workspace is trusted."""
