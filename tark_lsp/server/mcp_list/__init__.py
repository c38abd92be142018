"""The list of MCP servers and hooks in the editor: their states and approvals, and notifications of new ones."""
