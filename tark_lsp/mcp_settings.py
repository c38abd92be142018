"""The settings of MCP servers (docs/mcp.md)."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StrictBool

from tark_lsp.settings_types import EnvironmentName, Header, Seconds, Section, matching

OneLine = Annotated[str, matching(r"[^\r\n\0]+", "must be one line, and not empty")]
HeaderName = Annotated[str, matching(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", "must be the name of a header")]
McpName = Annotated[
    str,
    matching(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?", "must be a name of at most 20 of the characters a-z, 0-9 and -"),
]
McpUrl = Annotated[
    str,
    matching(r"https?://[^\s/]+\S*", "must be a URL that starts with https:// or http://"),
    matching(r"[^@#$]*", "must be a URL without user name, password, # and $ (keys belong into headers)"),
]


class McpServerSettings(Section):
    """A server is a `command` or a `url` (docs/mcp.md). `${VAR}` in `env` and `headers` is read when it starts.

    `tools`: only these; None: all. `trusted`: its annotations of tools count. `sandbox`: run it in the sandbox if there
    is one. `network`: whether the sandbox allows the network. `private_host`: for `url`.
    """

    command: OneLine | None = None
    args: tuple[Header, ...] = ()
    env: Mapping[EnvironmentName, Header] = Field(default_factory=dict)
    cwd: OneLine | None = None
    url: McpUrl | None = None
    headers: Mapping[HeaderName, Header] = Field(default_factory=dict)
    enabled: StrictBool = True
    tools: tuple[str, ...] | None = None
    trusted: StrictBool = False
    timeout_seconds: Seconds = 120.0
    sandbox: StrictBool = True
    network: StrictBool = False
    private_host: StrictBool = False


class McpSettings(Section):
    servers: Mapping[McpName, McpServerSettings] = Field(default_factory=dict)
