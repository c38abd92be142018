"""Login and refresh by the OAuth provider of MCP's SDK, over Tark's HTTP. Only this folder imports the SDK.

The SDK's provider is a generator: it yields requests, takes answers, and does no I/O itself. Its checks (resource,
issuer, state, `iss`) are used. httpx2 provides only the types of the requests and responses. This module adds checks
to those of auth_http.py:

- The authorization server must say that it supports S256.
- Paths for registration or tokens are never guessed.
- The server's texts and the SDK's exceptions can contain tokens, so they are neither shown nor logged.
"""

import json
import logging
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from tark_lsp.errors import McpError
from tark_lsp.mcp.challenges import LoginEnded, challenge_field, scopes_of
from tark_lsp.mcp.oauth.auth_http import PLAIN, Answer, AuthHttp, require_safe_url
from tark_lsp.mcp.oauth.clients import Client, choose_method, given_client, known_client
from tark_lsp.mcp.oauth.loopback import RedirectListener
from tark_lsp.mcp.token_store import StoredLogin

LOGIN_SECONDS = 300.0
"""How long the user has to log in on the page."""
METHOD = "S256"
VERSION = {"mcp-protocol-version": "2025-11-25"}
"""From 2025-06-18 on, the SDK names the resource in each request (RFC 8707)."""
NOT_OURS = {"host", "content-length"}
"""Headers that the HTTP library sets itself."""
ENDED = {"invalid_grant", "invalid_client", "unauthorized_client"}
MOST_REQUESTS = 20
"""In one login. The SDK needs eight at most."""

logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL + 1)  # it logs exceptions that contain texts of servers


@dataclass(frozen=True, slots=True)
class LoginPage:
    """What the user sees before the page opens. `scopes`: the rights that the login asks for."""

    url: str
    issuer: str
    scopes: tuple[str, ...]


Ask = Callable[[LoginPage], Awaitable[None]]
"""Shows the page's address to the user, and opens it if they agree. Raises McpError if they decline."""


class _Memory:
    """The SDK's `TokenStorage`, for one login or refresh."""

    def __init__(self, tokens: OAuthToken | None = None, client: OAuthClientInformationFull | None = None) -> None:
        self.tokens = tokens
        self.client = client

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def log_in(
    url: str,
    challenge: str,
    http: AuthHttp,
    ask: Ask,
    *,
    client: Client | None = None,
    known: StoredLogin | None = None,
    seconds: float = LOGIN_SECONDS,
) -> StoredLogin:
    """Logs in at the server with exactly this `url`. `challenge`: the header of its 401. `known`: the previous login,
    whose rights and client are used again. Raises McpError.
    """
    async with RedirectListener() as listener:

        async def redirect(page: str) -> None:
            require_safe_url(page, private=http.private)
            choose_method(provider.context)
            query = parse_qs(urlsplit(page).query)
            listener.expect(query["state"][0])
            scopes = tuple(scopes_of(query.get("scope", [""])[0]))
            await ask(LoginPage(page, _issuer(provider.context), scopes))

        async def answer() -> AuthorizationCodeResult:
            found = await listener.answer(seconds)
            return AuthorizationCodeResult(code=found.code, state=found.state, iss=found.issuer)

        given, document = given_client(client, known)
        wanted = known.wanted if known is not None else ""
        until_now = OAuthToken(access_token="-", scope=known.scope) if known and wanted else None  # for its rights
        memory = _Memory(until_now, given)
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(listener.uri)], client_name="Tark")
        provider = OAuthClientProvider(url, metadata, memory, redirect, answer, document)
        request = httpx2.Request("POST", url, headers=VERSION)
        await _drive(provider, request, _refusal(challenge, wanted, request), http)
        of_user = {given.client_id if given is not None else document}  # the SDK may have registered another
        return _result(url, provider.context, of_user)


async def refresh(login: StoredLogin, http: AuthHttp) -> StoredLogin:
    """Raises LoginEnded if the login has ended, or another McpError."""
    try:
        tokens = OAuthToken(
            access_token=login.access_token, refresh_token=login.refresh_token, scope=login.scope or None
        )
        memory = _Memory(tokens, known_client(login))
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl("http://127.0.0.1")])
        provider = OAuthClientProvider(login.url, metadata, memory)
        endpoints = {
            "issuer": login.issuer,
            "authorization_endpoint": login.authorization_endpoint,
            "token_endpoint": login.token_endpoint,
            "code_challenge_methods_supported": [METHOD],
        }
        resource = {"resource": login.resource, "authorization_servers": [login.issuer]}
        provider.context.oauth_metadata = OAuthMetadata.model_validate(endpoints)
        provider.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(resource)
    except ValidationError:
        raise LoginEnded("its stored login cannot be used") from None
    provider.context.token_expiry_time = 1.0  # expired, so that the first request is the refresh
    request = httpx2.Request("POST", login.url, headers=VERSION)
    await _drive(provider, request, None, http)
    of_user = {login.client_id} if login.client_is_given else set()
    return replace(_result(login.url, provider.context, of_user), wanted=login.wanted)


async def _drive(
    provider: OAuthClientProvider, request: httpx2.Request, refusal: httpx2.Response | None, http: AuthHttp
) -> None:
    """Runs the SDK until it would send `request` with a token. `refusal`: the answer to the first `request`, without a
    token. Raises McpError."""
    flow: AsyncGenerator[httpx2.Request, httpx2.Response] = provider.async_auth_flow(request)
    answer: Answer | None = None
    try:
        async with aclosing(flow):
            outgoing = await anext(flow)
            for _ in range(MOST_REQUESTS):
                if outgoing is request:
                    if refusal is None:
                        return
                    response, refusal = refusal, None
                else:
                    _require_checked(provider.context, outgoing)
                    answer = await http.send(*await _parts(outgoing))
                    _require_tokens(outgoing, answer)
                    response = httpx2.Response(answer.status, content=answer.body, request=outgoing)
                outgoing = await flow.asend(response)
        raise McpError("its login does not end")
    except StopAsyncIteration:
        raise McpError("its login ended without a token") from None
    except OAuthRegistrationError:
        raise McpError(f"its authorization server did not register tark-lsp{_said(answer)}") from None
    except OAuthTokenError:
        raise McpError(f"its authorization server gave no token{_said(answer)}") from None
    except OAuthFlowError as error:  # a wrong resource, issuer or state: the text has URLs, but no tokens
        raise McpError(f"its authorization server cannot be used: {str(error)[:500]}") from None
    except (ValidationError, UnicodeError, ValueError):
        raise McpError(f"its authorization server sent something that is not OAuth{_said(answer)}") from None


def _require_checked(context: OAuthContext, outgoing: httpx2.Request) -> None:
    """Until the server's metadata is known and valid, only GET requests (for metadata) may be sent. Raises McpError."""
    if outgoing.method == "GET":
        return
    metadata = context.oauth_metadata
    if metadata is None:
        raise McpError("it publishes no metadata of an authorization server that can be used")
    if METHOD not in (metadata.code_challenge_methods_supported or ()):
        raise McpError(f"its authorization server does not say that it supports PKCE with {METHOD}")
    if context.client_info is None and metadata.registration_endpoint is None:
        raise McpError(
            "its authorization server does not register clients by itself",
            hint="register one there for http://127.0.0.1/callback, and use `tark-lsp mcp login --client-id ID NAME`",
        )


def _require_tokens(outgoing: httpx2.Request, answer: Answer) -> None:
    """The SDK treats every failed refresh as the end of the login; this does not. Raises LoginEnded or McpError."""
    if b"grant_type=refresh_token" not in outgoing.content or answer.status == 200:
        return
    message = f"its login could not be refreshed{_said(answer)}"
    raise LoginEnded(message) if _error_in(answer) in ENDED else McpError(message, hint="try again later")


async def _parts(outgoing: httpx2.Request) -> tuple[str, str, dict[str, str], bytes]:
    headers = {name: value for name, value in outgoing.headers.items() if name.lower() not in NOT_OURS}
    return outgoing.method, str(outgoing.url), {**headers, "accept": "application/json"}, await outgoing.aread()


def _refusal(challenge: str, wanted: str, request: httpx2.Request) -> httpx2.Response:
    """The server's 401, or a 403 that asks for more rights (`wanted`): the SDK adds those to the rights it had."""
    scopes = wanted.split() or scopes_of(challenge_field(challenge, "scope"))
    metadata = challenge_field(challenge, "resource_metadata")
    fields = {
        "error": "insufficient_scope" if wanted else "",
        "scope": " ".join(scopes),
        "resource_metadata": metadata if PLAIN.fullmatch(metadata) else "",
    }
    said = ", ".join(f'{name}="{value}"' for name, value in fields.items() if value)
    status = 403 if wanted else 401
    return httpx2.Response(status, headers={"www-authenticate": f"Bearer {said}"}, request=request)


def _result(url: str, context: OAuthContext, of_user: Collection[str | None]) -> StoredLogin:
    """`of_user`: the ids of clients that the user registered. Raises McpError."""
    tokens, client, metadata = context.current_tokens, context.client_info, context.oauth_metadata
    if tokens is None or client is None or metadata is None or not PLAIN.fullmatch(tokens.access_token):
        raise McpError("its authorization server gave no token that can be used")
    now = time.time()
    return StoredLogin(
        url=url,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token or "",
        expires=now + tokens.expires_in if tokens.expires_in else 0.0,
        issued=now,
        scope=tokens.scope or "",
        resource=context.get_resource_url(),
        issuer=_issuer(context),
        authorization_endpoint=str(metadata.authorization_endpoint),
        token_endpoint=str(metadata.token_endpoint),
        client_id=client.client_id,
        client_secret=client.client_secret or "",
        client_method=client.token_endpoint_auth_method or "",
        client_is_given=client.client_id in of_user,
    )


def _issuer(context: OAuthContext) -> str:
    return "" if context.oauth_metadata is None else str(context.oauth_metadata.issuer)


def _error_in(answer: Answer) -> str:
    """The error code of OAuth; never free text of the server."""
    try:
        error = json.loads(answer.body).get("error")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{1,40}", error) else ""


def _said(answer: Answer | None) -> str:
    if answer is None:
        return ""
    redirected = ", which redirects and is not followed" if 300 <= answer.status < 400 else ""
    error = _error_in(answer)
    return f" (HTTP status {answer.status}{f', {error}' if error else ''}{redirected})"
