"""The user's file, the environment and the editor's values become one `Settings` and a list of problems.

The protocol is in protocol.md, "Settings". Each layer is cleaned (an invalid value is reported, and counts as not set),
the layers are merged by key, and then each workspace's own file can make the result stricter, never looser.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings import Settings
from tark_lsp.settings_cleaning import (
    MAX_PROBLEMS,
    dotted,
    leaf_paths,
    merge_layer,
    our_section,
    remove_setting,
)
from tark_lsp.settings_layers import Layers, LayerValues
from tark_lsp.settings_types import UserOnlyMark

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
    last_usable: dict[str, LayerValues] | None = None,
) -> tuple[Settings, list[str]]:
    """Returns the effective settings, and one sentence for each problem: where it is, what is wrong, what to do.

    `initialization` is `initializationOptions`. `configuration` is the `settings` of
    `workspace/didChangeConfiguration`, or `{"tark": answer}` for an answer to `workspace/configuration`.
    `trusted_client` is the client's `experimental.tark.userSettings`. `workspace_files` are the `.tark/config.toml` of
    the folders; they can be missing. `last_usable` keeps the values of each layer between calls. Nothing is raised: an
    unusable value is a problem, and counts as not set. If a layer is broken (settings_layers.py), its last usable
    values are used; without any, the approval level is manual, and no allow rule applies.
    """
    problems: list[str] = []
    layers = Layers(problems, {} if last_usable is None else last_usable)
    merged: dict[str, Any] = {}
    if user_file is not None:
        merge_layer(merged, layers.read_file(user_file))
    for name, key in ENVIRONMENT.items():
        merge_layer(merged, layers.clean(f"the environment variable {name}", {key: environ.get(name) or None}))
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
        merge_layer(merged, layers.clean(source, values))

    settings = Settings.model_validate(merged, by_alias=True, by_name=False)
    for file in workspace_files:
        settings = _apply_workspace_layer(settings, layers.read_file(file), str(file), problems)
    if not layers.are_usable:
        rules = settings.permissions.model_copy(update={"allow": ()})
        settings = settings.model_copy(update={"approval": ApprovalLevel.MANUAL, "permissions": rules})
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
