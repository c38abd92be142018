"""The approval of hooks: the digest that the user approves, and the hooks that a project offers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from tark_lsp.errors import McpError
from tark_lsp.hook_settings import HookSettings
from tark_lsp.hooks.hook import Hook
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server_config import Resolved, ServerConfig, quoted, resolve
from tark_lsp.mcp.server_tools import digest_of
from tark_lsp.mcp_settings import McpServerSettings
from tark_lsp.settings_cleaning import dotted, plain_reason
from tark_lsp.settings_file import read_toml

OFFERS = Path(".tark", "hooks.toml")
MOST_OFFERS = 50
LOOSER = ("sandbox", "network")
"""Settings that an offer cannot change."""
REASONS = {"missing": "is missing", "extra_forbidden": "is not a setting of a hook"}
"""What is wrong with a setting, by pydantic's type of the error. For other errors, the message says it."""
SETTINGS = TypeAdapter(HookSettings)


@dataclass(frozen=True, slots=True)
class Offers:
    """`problems`: one sentence for each hook that cannot be used."""

    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()


def resolve_hook(hook: Hook, folders: Sequence[Path]) -> Resolved:
    """The program and its arguments as they would run, and a digest of everything that determines what the hook does.

    The digest includes the content of files of the workspace that the command names. Raises McpError.
    """
    settings = hook.settings
    if "\0" in settings.command:
        raise McpError("its command has a NUL character")
    args = [str(Path(word).expanduser()) if word.startswith("~/") else word for word in settings.args]
    config = ServerConfig(hook.name, McpServerSettings(command=settings.command, args=tuple(args)))
    found = resolve(config, folders)
    digest = digest_of({"program": found.digest, "settings": settings.model_dump(mode="json", exclude={"enabled"})})
    return Resolved(digest, found.argv, found.cwd, scripts=found.scripts, links=found.links, warning=found.warning)


def read_offers(folders: Sequence[Path], taken: Sequence[str] = ()) -> Offers:
    """The offers of these folders. `taken`: the names of the user's own hooks, which win. Starts nothing."""
    hooks: dict[str, Hook] = {}
    problems: list[str] = []
    for file in (folder / OFFERS for folder in folders):
        wrong: list[str] = []
        values = read_toml(file, wrong).get("hooks") or []
        problems += wrong
        if not isinstance(values, list):
            problems.append(f"{file}: hooks must be a list: write [[hooks]], not [hooks]")
            continue
        for number, value in enumerate(values[:MOST_OFFERS], 1):
            try:
                settings = SETTINGS.validate_python(value, by_alias=True, by_name=False)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False, include_context=False)[0]
                place = f": {dotted(first['loc'])}" if first["loc"] else ""
                reason = REASONS.get(first["type"]) or plain_reason(first["msg"])
                problems.append(f"{file}: hook {number}{place} {reason}")
                continue
            if problem := _refusal(settings, [*taken, *hooks]):
                problems.append(f"{file}: hook {number} is left out: {problem}")
                continue
            hooks[settings.name] = Hook(settings, file)
    return Offers(tuple(hooks.values()), tuple(problems))


def _refusal(settings: HookSettings, taken: Sequence[str]) -> str:
    if settings.name in taken:
        return f"there is another hook {settings.name}"
    if not settings.sandbox or settings.network:
        return f"a project's hook always runs in the sandbox, without network ({' and '.join(LOOSER)} are yours)"
    return ""


def is_approved(hook: Hook, digest: str, pins: PinStore) -> bool:
    pin = pins.find(hook.name, str(hook.source))
    return pin is not None and pin.command == digest


def approve(hook: Hook, digest: str, shown: Sequence[str], pins: PinStore, now: float) -> None:
    """`shown`: the lines of `shown_hook`, for a later diff. Raises McpError if it cannot be stored."""
    pins.write(Pin(hook.name, digest, (), str(hook.source), approved=now, shown=tuple(shown)))


def shown_hook(hook: Hook, resolved: Resolved) -> list[str]:
    """All of a hook for the user, line by line."""
    settings = hook.settings
    where = "in the sandbox, without writing to the workspace" if settings.sandbox else "without a sandbox"
    lines = [
        f"{hook.name}, on {settings.on}",
        f"  runs: {' '.join(map(quoted, resolved.argv))}",
        f"  where: {resolved.cwd}, {where}{', with network' if settings.network else ''}",
    ]
    for word, globs in (("tools", settings.tools), ("files", settings.files)):
        lines += [f"  only for these {word}: {', '.join(globs)}"] if globs else []
    lines += resolved.shown_scripts
    return [*lines, *([f"  {resolved.warning}"] if resolved.warning else [])]
