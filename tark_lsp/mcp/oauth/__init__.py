"""OAuth 2.1 logins at MCP servers over HTTP. Needs the extra `mcp-oauth`. Imported only for a login or a refresh."""
