"""Installs the plugin for Neovim as a package in the data folder, which Neovim loads by itself."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp import __version__
from tark_lsp.cli.installing import folders
from tark_lsp.cli.installing.shipped import find_plugin, server_command
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import visible
from tark_lsp.errors import RequestError
from tark_lsp.workspace.programs import find_program

PARTS = ("doc", "lsp", "lua", "plugin")
"""The parts of the plugin that Neovim reads. pyproject.toml has the same list, for the wheel."""
NOTE = Path("lua", "tark", "installed.lua")
"""A file that names the server that the plugin starts, and marks the folder as installed by Tark."""
MARK = "-- Written by `tark-lsp install neovim`, which replaces it."
OLDEST = (0, 11)
SECONDS = 20


@dataclass(frozen=True, slots=True)
class PluginPaths:
    """`plugin` is a copy or a link. If it is a link, the note is in a package beside it."""

    package: Path

    @property
    def plugin(self) -> Path:
        return self.package / "start" / "tark"

    @property
    def beside_link(self) -> Path:
        return self.package / "start" / "tark-link"

    def note(self) -> Path:
        return (self.beside_link if self.plugin.is_symlink() else self.plugin) / NOTE

    def is_ours(self) -> bool:
        """Whether Tark installed the plugin. Other files have no note, and a Git clone never counts as Tark's."""
        is_clone = not self.plugin.is_symlink() and os.path.lexists(self.plugin / ".git")
        return not is_clone and _text(self.note()).startswith(MARK)

    def version(self) -> str | None:
        """The installed version; None if Tark installed nothing."""
        if not self.plugin.exists() or not self.is_ours():
            return None
        found = re.search(r"version = '([^']*)'", _text(self.note()))
        return found[1] if found else "?"

    def refuse_others(self) -> None:
        """Raises RequestError if something else is in the plugin's place."""
        if os.path.lexists(self.plugin) and not self.is_ours():
            what = "a link of your own" if self.plugin.is_symlink() else "something that tark-lsp did not put there"
            raise RequestError(
                f"{self.plugin} is {what}, so it is not replaced",
                hint="move it away and try again, or keep it and do not use this command",
            )


def data_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Neovim's stdpath('data')."""
    name = environ.get("NVIM_APPNAME") or "nvim"
    if platform == "win32":
        base = environ.get("XDG_DATA_HOME") or environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(base) / f"{name}-data"
    return Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def plugin_paths() -> PluginPaths:
    return PluginPaths(data_folder().absolute() / "site" / "pack" / "tark")


def install(screen: Screen, *, link: bool) -> int:
    source, is_checkout = find_plugin("neovim")
    if link and not is_checkout:
        raise RequestError(
            "--link needs a checkout: this tark-lsp was installed as a package",
            hint="leave out --link: the plugin is copied",
        )
    where = plugin_paths()
    where.refuse_others()
    before = where.version()
    command = server_command()
    has_help = (_link if link else _copy)(source, where, command)
    screen.print_line(f"installed  Tark {__version__} for Neovim: {visible(str(where.plugin))}", "green")
    if link:
        screen.print_line(f"link to    {visible(str(source))}")
    if before not in (None, __version__):
        screen.print_line(f"replaced   Tark {visible(str(before))}")
    screen.print_line(f"server     {visible(' '.join(command))}")
    _print_next_steps(screen, where, has_help=has_help)
    return DONE


def uninstall(screen: Screen) -> int:
    where = plugin_paths()
    where.refuse_others()
    if not os.path.lexists(where.plugin):
        screen.print_line(f"nothing to remove: there is no {visible(str(where.plugin))}", "yellow")
        return NOT_DONE
    _remove(where, where.plugin)
    _remove(where, where.beside_link)
    screen.print_line(f"removed  {visible(str(where.plugin))}", "green")
    return DONE


def _link(source: Path, where: PluginPaths, command: Sequence[str]) -> bool:
    folders.replace_folder(where.beside_link, where.package, lambda new: _write_note(new, command))
    try:
        folders.replace_folder(
            where.plugin, where.package, lambda new: new.symlink_to(source, target_is_directory=True)
        )
    except OSError:
        if not where.plugin.is_symlink():
            _remove(where, where.beside_link)
        raise
    return _make_help_tags(source)


def _copy(source: Path, where: PluginPaths, command: Sequence[str]) -> bool:
    has_help = False

    def make(new: Path) -> None:
        nonlocal has_help
        # Not copytree: a package can be read-only, and the installed copy must not be.
        for file in (file for part in PARTS for file in (source / part).rglob("*")):
            place = new / file.relative_to(source)
            if file.is_file() and file.name != "tags":
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
        _write_note(new, command)
        has_help = _make_help_tags(new)

    folders.replace_folder(where.plugin, where.package, make)
    _remove(where, where.beside_link)
    return has_help


def _remove(where: PluginPaths, target: Path) -> None:
    if os.path.lexists(target):
        folders.remove_folder(target, where.package)
        folders.remove_if_empty(target.parent)
        folders.remove_if_empty(where.package)


def _write_note(folder: Path, command: Sequence[str]) -> None:
    note = folder / NOTE
    note.parent.mkdir(parents=True, exist_ok=True)
    cmd = ", ".join(map(lua_string, command))
    note.write_text(f"{MARK}\nreturn {{ cmd = {{ {cmd} }}, version = {lua_string(__version__)} }}\n", encoding="ascii")


def lua_string(text: str) -> str:
    """A Lua literal in ASCII. A path that is not valid Unicode keeps its bytes."""
    plain = range(0x20, 0x7F)
    quoted = (chr(byte) if byte in plain and chr(byte) not in "'\\" else f"\\{byte:03}" for byte in os.fsencode(text))
    return f"'{''.join(quoted)}'"


def _make_help_tags(folder: Path) -> bool:
    """Returns whether `:help tark` works now."""
    nvim = find_program("nvim")
    if nvim is None or not (folder / "doc").is_dir():
        return False
    command = [str(nvim), "--clean", "--headless", "-c", "exe 'helptags' fnameescape($TARK_DOC)", "-c", "qa!"]
    _run(command, {**os.environ, "TARK_DOC": str(folder / "doc")})
    return (folder / "doc" / "tags").is_file()


def _print_next_steps(screen: Screen, where: PluginPaths, *, has_help: bool) -> None:
    nvim = find_program("nvim")
    if nvim is None:
        screen.print_line("note       no nvim in PATH; the plugin needs Neovim 0.11 or newer", "yellow")
    elif (version := _neovim_version(nvim)) and version < OLDEST:
        screen.print_line(
            f"note       {visible(str(nvim))} is {'.'.join(map(str, version))}: install 0.11 or newer", "yellow"
        )
    manager = where.package.parents[2] / "lazy" / "lazy.nvim"
    if manager.exists():  # it clears 'packpath'
        screen.print_line("note       lazy.nvim loads only the plugins of its own list. Add this to it:", "yellow")
        screen.print_line("           { dir = vim.fn.stdpath('data') .. '/site/pack/tark/start/tark', name = 'tark' }")
    tags = "" if has_help else "; :helptags ALL for the help pages"
    screen.print_line(f"next       restart Neovim, then run :checkhealth tark{tags}", "bold")


def _neovim_version(nvim: Path) -> tuple[int, ...] | None:
    found = re.match(r"NVIM v(\d+)\.(\d+)", _run([str(nvim), "--version"]))
    return (int(found[1]), int(found[2])) if found else None


def _run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """Returns the output; "" if the command cannot be run."""
    try:
        done = subprocess.run(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
