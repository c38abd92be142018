"""A client of MCP servers (docs/mcp.md). Pure parts first: messages, versions, names, pins; the transports at the rim."""
