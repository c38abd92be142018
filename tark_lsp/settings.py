"""Settings: the user's file, the environment and the editor's values become one `Settings` and a list of problems.

The protocol is in protocol.md, "Settings". Each layer is cleaned (an invalid value is reported, and counts as not set),
the layers are merged by key, and then each workspace's own file can make the result stricter, never looser.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool

from tark_lsp.hook_settings import HookSettings
from tark_lsp.mcp_settings import McpSettings
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings_cleaning import (
    MAX_PROBLEMS,
    clean_layer,
    dotted,
    leaf_paths,
    merge_layer,
    our_section,
    remove_setting,
)
from tark_lsp.settings_file import read_toml
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
    UserOnlyMark,
    Wire,
)


class PriceSettings(Section):
    """Dollars for a million tokens. Without `cached` and `cache_write` those tokens cost like input tokens."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_write: Dollars | None = None


class ModelSettings(Section):
    """The user's corrections of what the provider and our table say about one model. None: no correction."""

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
    """Models for modes and for custom agents (docs/agents.md). `agents` counts more than what their files say."""

    modes: ModeModels = Field(default_factory=ModeModels)
    agents: Mapping[AgentName, ModelName] = Field(default_factory=dict)


class ContextSettings(Section):
    """Code that is added to a prompt without being asked for (docs/index.md, "Automatic context"). `tokens`: at most so
    many for one prompt, by our estimate."""

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


ENVIRONMENT = {
    "TARK_MODEL": "model",
    "TARK_MODE": "mode",
    "TARK_APPROVAL": "approval",
    "TARK_SANDBOX": "sandbox",
    "TARK_LOG_LEVEL": "logLevel",
}

_STRICTEST_MODE_FIRST = (Mode.ASK, Mode.PLAN, Mode.BUILD)
_LEAST_CONTEXT_FIRST = ("off", "light", "full")


def load_settings(
    *,
    user_file: Path | None,
    environ: Mapping[str, str],
    initialization: object = None,
    configuration: object = None,
    trusted_client: bool = False,
    workspace_files: Sequence[Path] = (),
) -> tuple[Settings, list[str]]:
    """Returns the effective settings, and one sentence for each problem: where it is, what is wrong, what to do.

    `initialization` is `initializationOptions`. `configuration` is the `settings` of
    `workspace/didChangeConfiguration`, or `{"tark": answer}` for an answer to `workspace/configuration`.
    `trusted_client` is the client's `experimental.tark.userSettings`. `workspace_files` are the `.tark/config.toml` of
    the folders; they can be missing. Nothing is raised: an unusable value is a problem, and counts as not set.
    """
    problems: list[str] = []
    layers = [
        (f"the environment variable {name}", {key: environ.get(name) or None}) for name, key in ENVIRONMENT.items()
    ]
    if user_file is not None:
        layers.insert(0, (str(user_file), read_toml(user_file, problems)))
    for source, sent, trusted, only_known in (
        ("the editor's initializationOptions", initialization, trusted_client, False),
        ("the editor's settings", configuration, False, True),
    ):
        values = our_section(Settings, sent, source, problems, only_known=only_known)
        if not trusted and (
            refused := [dotted(path) for path in _user_only_paths(Settings) if remove_setting(values, path)]
        ):
            problems.append(
                f"{source}: {', '.join(refused)} ignored there, since a repository could have set it; "
                f"set it in {user_file or 'your own config.toml'}"
            )
        layers.append((source, values))

    merged: dict[str, Any] = {}
    for source, values in layers:
        merge_layer(merged, clean_layer(Settings, values, source, problems))
    settings = Settings.model_validate(merged, by_alias=True, by_name=False)
    for file in workspace_files:
        values = clean_layer(Settings, read_toml(file, problems), str(file), problems)
        settings = _apply_workspace_layer(settings, values, str(file), problems)
    return settings, list(dict.fromkeys(problems))


def _user_only_paths(model: type[BaseModel], outer: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        path = (*outer, field.alias or name)
        if any(isinstance(mark, UserOnlyMark) for mark in field.metadata):
            yield path
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _user_only_paths(field.annotation, path)


def _apply_workspace_layer(settings: Settings, values: dict[str, Any], source: str, problems: list[str]) -> Settings:
    """Applies the values that a workspace may set. The rest of its file is reported as ignored."""
    asked = Settings.model_validate(values, by_alias=True, by_name=False)
    rules, mcp, changes = settings.permissions, settings.mcp, dict[str, Any]()
    ignored: list[str] = []
    for path in leaf_paths(values):
        match path:
            case ("permissions", "ask" | "deny" as kind):
                rules = rules.model_copy(update={kind: (*getattr(rules, kind), *getattr(asked.permissions, kind))})
            case ("limits" | "index" | "context" as section, alias):
                now = changes.get(section, getattr(settings, section))
                name = next(name for name, field in type(now).model_fields.items() if field.alias == alias)
                value = getattr(getattr(asked, section), name)
                if _is_less(value, getattr(now, name)):
                    changes[section] = now.model_copy(update={name: value})
                else:
                    ignored.append(f"{section}.{alias}{' (it is higher)' * isinstance(value, float | int)}")
            case ("mode",) if _STRICTEST_MODE_FIRST.index(asked.mode) <= _STRICTEST_MODE_FIRST.index(settings.mode):
                changes["mode"] = asked.mode
            case ("mcp", "servers", name, "enabled") if not asked.mcp.servers[name].enabled:
                servers = {**mcp.servers}
                if name in servers:
                    servers[name] = servers[name].model_copy(update={"enabled": False})
                mcp = mcp.model_copy(update={"servers": servers})
            case ("editReview",) if asked.edit_review == "ask":
                changes["edit_review"] = "ask"
            case _:
                ignored.append(dotted(path))
    if ignored:
        more = f" and {len(ignored) - MAX_PROBLEMS} more" if len(ignored) > MAX_PROBLEMS else ""
        problems.append(
            f"{source}: ignored {', '.join(ignored[:MAX_PROBLEMS])}{more}, since a workspace can only make "
            "settings stricter; set it in your own config.toml if you want it"
        )
    return settings.model_copy(update={"permissions": rules, "mcp": mcp, **changes})


def _is_less(value: object, now: Any) -> bool:
    """Whether a value makes its setting stricter, or leaves it as it is."""
    match value:
        case float() | int():  # false is less than true
            return now is None or value <= now
        case "off" | "light" | "full":
            return _LEAST_CONTEXT_FIRST.index(value) <= _LEAST_CONTEXT_FIRST.index(now)
    return False
