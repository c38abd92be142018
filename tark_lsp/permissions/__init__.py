"""What the user allowed for longer than a session: commands in a workspace, and workspaces that are trusted."""
