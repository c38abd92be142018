"""The user's list of MCP servers and hooks: their states, their approval, and what is new."""
