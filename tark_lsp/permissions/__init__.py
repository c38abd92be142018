"""What the user allowed for longer than a session: commands in a workspace, and workspaces that are trusted."""

TRUST_ANSWERS = {"not-now": "Not Now", "trust": "Trust"}
"""The ids and labels of the answers to the question whether a workspace is trusted. The first one is what a stray Enter
takes in some editors."""
