"""The extra `mcp-oauth`: whether it is installed, and how to load it. Its import takes a second of CPU time."""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import TypeAlias

from tark_lsp.errors import McpError
from tark_lsp.mcp.token_store import StoredLogin

EXTRA = "pip install 'tark_lsp[mcp-oauth]'"

Refresh: TypeAlias = Callable[[StoredLogin], Awaitable[StoredLogin]]
"""Raises LoginEnded, or another McpError if it is unknown whether the login has ended."""


def has_extra() -> bool:
    return importlib.util.find_spec("mcp") is not None


async def load_flow() -> ModuleType:
    """tark_lsp.mcp.oauth.flow. Raises McpError if the extra is not installed, or has another version."""
    try:
        return await asyncio.to_thread(importlib.import_module, "tark_lsp.mcp.oauth.flow")
    except ImportError as error:
        raise McpError(f"logins at MCP servers are not installed: {error}", hint=EXTRA) from error


def refresh_over(is_public: Callable[[str], bool], *, private: bool) -> Refresh:
    """`is_public` and `private`: see AuthHttp."""

    async def refresh(login: StoredLogin) -> StoredLogin:
        flow = await load_flow()
        from tark_lsp.mcp.oauth.auth_http import AuthHttp

        http = AuthHttp(is_public, private=private)
        try:
            fresh: StoredLogin = await flow.refresh(login, http)
            return fresh
        finally:
            await http.aclose()

    return refresh
