"""A client for MCP servers (docs/mcp.md). The protocol, names and pins are pure; transports and processes do I/O."""
