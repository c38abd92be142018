"""Logging in to MCP servers over HTTP, by OAuth 2.1. Loaded for a login or a refresh, with the extra `mcp-oauth`."""
