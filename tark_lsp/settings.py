"""Settings: the person's files, the environment and the editor's words become one `Settings` and a list of problems.

The contract is protocol.md, "Settings". Layers are cleaned one by one (a bad value is told, and counts as not set in
its layer), merged by key, and then every workspace's own file may make the result stricter, never looser.
"""

import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool
from pydantic.alias_generators import to_camel

from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings_cleaning import MOST_PROBLEMS, clean, dotted, leaves, names, quoted, take

Wire = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini-content", "ollama-chat"]
Thinking = Literal["auto", "off", "low", "medium", "high"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
LogLevel = Literal["debug", "info", "warning", "error"]


def _matching(pattern: str, problem: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(problem)
        return value

    return AfterValidator(check)


Count = Annotated[int, Field(strict=True, ge=1)]
Dollars = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
ModelName = Annotated[str, _matching(r"[^/\s]+/\S+", 'must be "<provider>/<model>", like "openai/gpt-5"')]
BaseUrl = Annotated[
    str,
    _matching(r"https?://[^\s/]+\S*", "must be a URL that starts with https:// or http://"),
    # They would be shown with it, and a path added to the URL would go behind the ? or #.
    _matching(r"[^@?#]*", "must be a URL without user name, password, ? and # (a key is given by `tark-lsp login`)"),
]
EnvironmentName = Annotated[
    str, _matching(r"[A-Za-z_][A-Za-z0-9_]*", "must be the name of an environment variable, never the key itself")
]
ClientId = Annotated[str, _matching(r"[!-~]+", "must be the id of an OAuth app")]
Header = Annotated[str, _matching(r"[^\r\n\0]*", "must be one line")]
Rule = Annotated[
    str, _matching(r"[\w*-]+(\(.*\))?", 'must be "tool" or "tool(specifier)", like "run_command(pytest *)"')
]


class _Section(BaseModel):
    """Files and editors write camelCase; code reads, and may construct with, snake_case."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )


class PriceSettings(_Section):
    """Dollars for a million tokens; without `cached` and `cache_write` those cost as any other."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_write: Dollars | None = None


class ModelSettings(_Section):
    """What the person knows better of one model than the provider and our table do; None: nothing."""

    context_window: Count | None = None
    max_output_tokens: Count | None = None
    thinking: Literal["none", "effort", "adaptive", "budget", "switch"] | None = None
    efforts: tuple[Effort, ...] = ()
    tools: StrictBool | None = None
    images: StrictBool | None = None
    price: PriceSettings | None = None


class ProviderSettings(_Section):
    """What the person changes of a provider, or all of one that is not shipped. `scenario`: of `scripted` only;
    `client_id` and `login_url`: of a provider with a login.
    """

    base_url: BaseUrl | None = None
    api_key_env: EnvironmentName | None = None
    headers: Mapping[str, Header] = Field(default_factory=dict)
    wire: Wire | None = None
    client_id: ClientId | None = None
    login_url: BaseUrl | None = None
    scenario: str | None = None
    models: Mapping[str, ModelSettings] = Field(default_factory=dict)


class PermissionRules(_Section):
    """Rules of all layers add up: no layer can take away what another denies."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


class Limits(_Section):
    turn_requests: Count = 50
    turn_usd: Dollars = 5.0
    session_usd: Dollars | None = None
    tool_seconds: Seconds = 30.0
    tool_result_tokens: Count = 8000


class SessionSettings(_Section):
    """`retention_days`: sessions untouched for longer are deleted; None: never. `titles`: the first words of the first
    prompt, or asked of the model, which costs a request."""

    retention_days: Count | None = None
    titles: Literal["words", "model"] = "words"


class Settings(_Section):
    """The effective settings. `Settings()` are the built-in defaults."""

    model: ModelName | None = None
    mode: Mode = Mode.BUILD
    approval: ApprovalLevel = ApprovalLevel.CAREFUL
    permissions: PermissionRules = PermissionRules()
    edit_review: Literal["ask", "after"] | None = None
    workspace_trusted: StrictBool | None = None
    providers: Mapping[str, ProviderSettings] = Field(default_factory=dict)
    limits: Limits = Limits()
    sessions: SessionSettings = SessionSettings()
    sandbox: Literal["auto", "require", "off"] = "auto"
    save_after_edit: StrictBool = True
    check_after_edit: StrictBool = True
    """Are diagnostics looked at before and after an edit (docs/checks.md)?"""
    thinking: Thinking = "auto"
    log_level: LogLevel = "warning"

    def review_under(self, approval: ApprovalLevel) -> Literal["ask", "after"]:
        """When edits are reviewed under this approval level: `editReview`, else its default; manual always asks."""
        if approval is ApprovalLevel.MANUAL:
            return "ask"
        return self.edit_review or ("after" if approval is ApprovalLevel.BALANCED else "ask")

    def shown(self) -> dict[str, Any]:
        """As JSON in the names of the contract, for `tark.state`; values of headers, which may be keys, are hidden."""
        values = self.model_dump(mode="json", by_alias=True)
        for provider in values["providers"].values():
            provider["headers"] = dict.fromkeys(provider["headers"], "(hidden)")
        return values


USER_ONLY = (
    ("model",),
    ("mode",),
    ("approval",),
    ("permissions", "allow"),
    ("editReview",),
    ("workspaceTrusted",),
    ("providers",),
    ("limits",),
    ("sessions",),
    ("sandbox",),
)
"""The keys marked (user) in the contract: a repository's words never reach them."""

ENVIRONMENT = {"TARK_MODEL": "model", "TARK_MODE": "mode", "TARK_APPROVAL": "approval", "TARK_LOG_LEVEL": "logLevel"}

_STRICTEST_MODE_FIRST = (Mode.ASK, Mode.PLAN, Mode.BUILD)
_LONGEST_FILE = 1_000_000


def load_settings(
    *,
    user_file: Path | None,
    environ: Mapping[str, str],
    initialization: object = None,
    configuration: object = None,
    trusted_client: bool = False,
    workspace_files: Sequence[Path] = (),
) -> tuple[Settings, list[str]]:
    """The effective settings, and one sentence for each problem: where it is, what is wrong, what to do.

    `initialization` is `initializationOptions`; `configuration` is the `settings` of `workspace/didChangeConfiguration`
    (an answer to `workspace/configuration` goes in as `{"tark": answer}`). `trusted_client` is its
    `experimental.tark.userSettings`. `workspace_files` are the `.tark/config.toml` of the folders; they may be
    missing. Nothing is raised: what cannot be used is a problem, and counts as not set.
    """
    problems: list[str] = []
    layers = [
        (f"the environment variable {name}", {key: environ.get(name) or None}) for name, key in ENVIRONMENT.items()
    ]
    if user_file is not None:
        layers.insert(0, (str(user_file), _read(user_file, problems)))
    for source, words, trusted, only_known in (
        ("the editor's initializationOptions", initialization, trusted_client, False),
        ("the editor's settings", configuration, False, True),
    ):
        values = _section(words, source, problems, only_known)
        if not trusted and (refused := [dotted(path) for path in USER_ONLY if take(values, path)]):
            problems.append(
                f"{source}: {', '.join(refused)} ignored there, since a repository may have set it; "
                f"put it into {user_file or 'your own config.toml'}"
            )
        layers.append((source, values))

    merged: dict[str, Any] = {}
    for source, values in layers:
        _merge(merged, clean(Settings, values, source, problems))
    settings = Settings.model_validate(merged, by_alias=True, by_name=False)
    for file in workspace_files:
        values = clean(Settings, _read(file, problems), str(file), problems)
        settings = _stricter(settings, values, str(file), problems)
    return settings, list(dict.fromkeys(problems))


def _read(file: Path, problems: list[str]) -> dict[str, Any]:
    """A TOML file as a dictionary; empty where it is missing or cannot be used."""
    try:
        with open(file, "rb", opener=_open_regular) as stream:  # Path.open takes no opener
            data = stream.read(_LONGEST_FILE + 1)
        if len(data) > _LONGEST_FILE:
            raise OSError(f"it is larger than {_LONGEST_FILE:,} bytes")
        # Editors on Windows put a byte order mark before TOML, which tomllib refuses.
        return tomllib.loads(data.decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        problems.append(f"{file} cannot be read as TOML: {reason}; nothing in it counts until that is corrected")
        return {}


def _open_regular(path: str, flags: int) -> int:
    # Without O_NONBLOCK, opening a repository's FIFO would hang the server.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a regular file")
    return descriptor


def _section(words: object, source: str, problems: list[str], only_known: bool) -> dict[str, Any]:
    """Our part of what an editor sent: under "tark", else the bare keys (`only_known`: those that are ours)."""
    if isinstance(words, Mapping) and "tark" in words:
        words, only_known = words["tark"], False
    if words is None or words == []:  # an empty Lua table arrives as a list
        return {}
    if not isinstance(words, Mapping):
        problems.append(f"{source} must be an object of settings, not {quoted(words)}; ignored")
        return {}
    return {key: value for key, value in words.items() if not only_known or key in names(Settings)}


def _merge(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        elif isinstance(value, list):
            into[key] = [*into.get(key, ()), *value]
        else:
            into[key] = value


def _stricter(settings: Settings, values: dict[str, Any], source: str, problems: list[str]) -> Settings:
    """The settings with what a workspace may say of them; the rest of its file is told as ignored."""
    asked = Settings.model_validate(values, by_alias=True, by_name=False)
    rules, limits, changes = settings.permissions, settings.limits, dict[str, Any]()
    ignored: list[str] = []
    for path in leaves(values):
        match path:
            case ("permissions", "ask" | "deny" as kind):
                rules = rules.model_copy(update={kind: (*getattr(rules, kind), *getattr(asked.permissions, kind))})
            case ("limits", alias):
                name = next(name for name, field in Limits.model_fields.items() if field.alias == alias)
                now, wanted = getattr(limits, name), getattr(asked.limits, name)
                if now is None or wanted <= now:
                    limits = limits.model_copy(update={name: wanted})
                else:
                    ignored.append(f"limits.{alias} (it is higher)")
            case ("mode",) if _STRICTEST_MODE_FIRST.index(asked.mode) <= _STRICTEST_MODE_FIRST.index(settings.mode):
                changes["mode"] = asked.mode
            case ("editReview",) if asked.edit_review == "ask":
                changes["edit_review"] = "ask"
            case _:
                ignored.append(dotted(path))
    if ignored:
        more = f" and {len(ignored) - MOST_PROBLEMS} more" if len(ignored) > MOST_PROBLEMS else ""
        problems.append(
            f"{source}: ignored {', '.join(ignored[:MOST_PROBLEMS])}{more}, since a workspace can only make "
            "things stricter; put it into your own config.toml if you want it"
        )
    return settings.model_copy(update={"permissions": rules, "limits": limits, **changes})
