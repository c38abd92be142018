"""The OAuth client of a login: registered by the user, or else by the SDK at each login."""

from dataclasses import dataclass, field

from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull

from tark_lsp.mcp.token_store import StoredLogin

BASIC, POST = "client_secret_basic", "client_secret_post"


@dataclass(frozen=True, slots=True)
class Client:
    """A client that the user registered by hand. An `id` that is a URL leads to the client's metadata."""

    id: str
    secret: str = field(default="", repr=False)


def given_client(
    client: Client | None, known: StoredLogin | None
) -> tuple[OAuthClientInformationFull | None, str | None]:
    """The client that the user registered, or the URL of its metadata. Two None if the SDK shall register one."""
    if client is not None:
        if client.id.startswith("https://") and not client.secret:
            return None, client.id
        method = BASIC if client.secret else "none"
        secret = client.secret or None
        info = OAuthClientInformationFull(client_id=client.id, client_secret=secret, token_endpoint_auth_method=method)
        return info, None
    if known is None or not known.client_is_given:
        return None, None
    if known.client_id.startswith("https://") and not known.client_secret:
        return None, known.client_id
    return known_client(known), None


def choose_method(context: OAuthContext) -> None:
    """How a client with a secret authenticates: by `basic`, the default (RFC 8414, section 2), or `post` if the server
    does not support `basic`."""
    supported = context.oauth_metadata and context.oauth_metadata.token_endpoint_auth_methods_supported
    client = context.client_info
    if client is not None and client.token_endpoint_auth_method == BASIC and supported and BASIC not in supported:
        client.token_endpoint_auth_method = POST


def known_client(login: StoredLogin) -> OAuthClientInformationFull:
    return OAuthClientInformationFull(
        client_id=login.client_id,
        client_secret=login.client_secret or None,
        token_endpoint_auth_method=login.client_method or None,
        issuer=login.issuer,
    )
