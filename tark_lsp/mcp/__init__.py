"""A client of MCP servers (docs/mcp.md). The protocol, names and pins are pure; the transports and processes do I/O."""
