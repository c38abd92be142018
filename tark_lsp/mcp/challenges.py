"""The header `WWW-Authenticate`, by which a server asks for a login or for more rights (RFC 6750, RFC 9728)."""

import re

from tark_lsp.errors import McpError
from tark_lsp.mcp.transport import HttpRefusal

SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
"""A scope, by RFC 6749, section 3.3. The limit of its length is Tark's."""
MOST_SCOPES = 50
LONGEST_CHALLENGE = 8_000


class NeedsLogin(HttpRefusal):
    """The server requires a login."""


class LoginEnded(McpError):
    """The authorization server no longer accepts the refresh token."""


def challenge_field(challenge: str, name: str) -> str:
    """A parameter of the header; empty if it is missing."""
    pattern = rf'(?:^|[\s,]){name}\s*=\s*(?:"([^"]*)"|([^\s",]+))'
    found = re.search(pattern, challenge[:LONGEST_CHALLENGE], re.IGNORECASE)
    return (found[1] or found[2] or "") if found else ""


def scopes_of(text: str) -> list[str]:
    """The valid scopes in a list that is separated by blanks."""
    return [scope for scope in text.split() if SCOPE.fullmatch(scope)][:MOST_SCOPES]
