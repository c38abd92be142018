"""Settings: what can be configured, as frozen values. settings_loading.py reads them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from tark_lsp.hook_settings import HookSettings
from tark_lsp.mcp_settings import McpSettings
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings_types import (
    AgentName,
    BaseUrl,
    ClientId,
    Count,
    Dollars,
    Effort,
    Embeddings,
    EnvironmentName,
    Header,
    LogLevel,
    ModelName,
    Rules,
    Seconds,
    Section,
    Thinking,
    UserOnly,
    Wire,
)


class PriceSettings(Section):
    """Dollars for a million tokens. Without `cached` and `cache_write` those tokens cost like input tokens."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_write: Dollars | None = None


class ModelSettings(Section):
    """The user's corrections of what the provider and Tark's table say about one model. None: no correction."""

    context_window: Count | None = None
    max_output_tokens: Count | None = None
    thinking: Literal["none", "effort", "adaptive", "budget", "switch"] | None = None
    efforts: tuple[Effort, ...] = ()
    tools: StrictBool | None = None
    images: StrictBool | None = None
    price: PriceSettings | None = None


class ProviderSettings(Section):
    """The user's changes to a provider, or the whole definition of one that is not shipped. `scenario` is for
    `scripted` only, `client_id` and `login_url` for a provider with a login.
    """

    base_url: BaseUrl | None = None
    api_key_env: EnvironmentName | None = None
    headers: Mapping[str, Header] = Field(default_factory=dict)
    wire: Wire | None = None
    client_id: ClientId | None = None
    login_url: BaseUrl | None = None
    scenario: str | None = None
    models: Mapping[str, ModelSettings] = Field(default_factory=dict)


class PermissionRules(Section):
    """The rules of all layers are joined: no layer can remove what another denies."""

    allow: UserOnly[Rules] = ()
    ask: Rules = ()
    deny: Rules = ()


class Limits(Section):
    turn_requests: Count = 50
    turn_usd: Dollars = 5.0
    session_usd: Dollars | None = None
    tool_seconds: Seconds = 30.0
    tool_result_tokens: Count = 8000


class SessionSettings(Section):
    """`retention_days`: sessions unused for longer are deleted; None: never. `titles`: the first words of the first
    prompt, or written by the model, which costs a request.
    """

    retention_days: Count | None = None
    titles: Literal["words", "model"] = "words"


class CommentSettings(Section):
    """`run_on_unknown_save`: also on saves of an editor that cannot tell whether the user saved (docs/comments.md)."""

    run_on_save: StrictBool = False
    run_on_unknown_save: StrictBool = False


class GatewaySettings(Section):
    """`aliases`: names that clients of `tark-lsp gateway` can use for a model (docs/gateway.md)."""

    aliases: Mapping[str, ModelName] = Field(default_factory=dict)


class IndexSettings(Section):
    """`max_megabytes`: what the index of one workspace can take on disk. `embeddings`: what makes dense vectors, and
    `qdrant`: the URL of a Qdrant that keeps them (docs/index.md)."""

    enabled: StrictBool = True
    max_megabytes: Count = 2000
    embeddings: Embeddings | None = None
    qdrant: BaseUrl | None = None


class ModeModels(Section):
    """The model that a session gets with each mode. None: that of the other modes."""

    ask: ModelName | None = None
    plan: ModelName | None = None
    build: ModelName | None = None

    def of(self, mode: Mode) -> str | None:
        found: str | None = getattr(self, mode)
        return found


class ModelChoices(Section):
    """Models for modes and for custom agents (docs/agents.md). `agents` overrides the agents' files."""

    modes: ModeModels = Field(default_factory=ModeModels)
    agents: Mapping[AgentName, ModelName] = Field(default_factory=dict)


class ContextSettings(Section):
    """Code that is automatically added to a prompt (docs/index.md, "Automatic context"). `tokens`: the maximum for one
    prompt, by Tark's estimate."""

    automatic: Literal["off", "light", "full"] = "light"
    tokens: Count = 4000


Hooks = Annotated[tuple[HookSettings, ...], Field(max_length=100)]


class Settings(Section):
    """The effective settings. `Settings()` are the built-in defaults."""

    model: UserOnly[ModelName | None] = None
    models: UserOnly[ModelChoices] = Field(default_factory=ModelChoices)
    mode: UserOnly[Mode] = Mode.BUILD
    approval: UserOnly[ApprovalLevel] = ApprovalLevel.CAREFUL
    permissions: PermissionRules = Field(default_factory=PermissionRules)
    edit_review: UserOnly[Literal["ask", "after"] | None] = None
    workspace_trusted: UserOnly[StrictBool | None] = None
    providers: UserOnly[Mapping[str, ProviderSettings]] = Field(default_factory=dict)
    mcp: UserOnly[McpSettings] = Field(default_factory=McpSettings)
    hooks: UserOnly[Hooks] = ()
    limits: UserOnly[Limits] = Field(default_factory=Limits)
    sessions: UserOnly[SessionSettings] = Field(default_factory=SessionSettings)
    comments: UserOnly[CommentSettings] = Field(default_factory=CommentSettings)
    gateway: UserOnly[GatewaySettings] = Field(default_factory=GatewaySettings)
    sandbox: UserOnly[Literal["auto", "require", "off"]] = "auto"
    index: UserOnly[IndexSettings] = Field(default_factory=IndexSettings)
    context: UserOnly[ContextSettings] = Field(default_factory=ContextSettings)
    save_after_edit: StrictBool = True
    check_after_edit: StrictBool = True
    """Whether diagnostics are compared before and after an edit (docs/checks.md)."""
    thinking: Thinking = "auto"
    log_level: LogLevel = "warning"

    def as_protocol_json(self) -> dict[str, Any]:
        """JSON with the names of the protocol, for `tark.state`. Values of headers and variables are hidden: they can
        be keys."""
        values = self.model_dump(mode="json", by_alias=True)
        for provider in values["providers"].values():
            provider["headers"] = dict.fromkeys(provider["headers"], "(hidden)")
        for server in values["mcp"]["servers"].values():
            for kind in ("env", "headers"):
                server[kind] = dict.fromkeys(server[kind], "(hidden)")
        return values
