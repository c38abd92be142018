"""The extension for VS Code and its kin: the .vsix that came with this package, installed by each editor itself."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tark_lsp import __version__
from tark_lsp.cli.installing.shipped import ROOT, server_command
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import visible
from tark_lsp.errors import RequestError

EXTENSION = "tark.tark"
NOTE = "extension/installed.json"
"""Within the .vsix. Tells the extension which server it belongs to (editors/vscode/src/server/surroundings.ts)."""
SECONDS = 180


@dataclass(frozen=True, slots=True)
class Kin:
    """An editor that takes extensions of VS Code. On a Mac the program need not be in PATH: its application has it."""

    program: str
    name: str
    application: str | None = None


KIN = (
    Kin("code", "VS Code", "Visual Studio Code"),
    Kin("code-insiders", "VS Code Insiders", "Visual Studio Code - Insiders"),
    Kin("codium", "VSCodium", "VSCodium"),
    Kin("cursor", "Cursor", "Cursor"),
    Kin("code-server", "code-server"),
)


def install(screen: Screen, *, link: bool) -> int:
    if link:
        raise RequestError(
            "the extension for VS Code cannot be linked", hint="do without --link; to work on it: docs/contributing.md"
        )
    source = _vsix()
    editors = _editors(
        "in VS Code choose `Shell Command: Install 'code' command in PATH` and try again, "
        f"or `Extensions: Install from VSIX...` and take {source}"
    )
    command = server_command()
    with tempfile.TemporaryDirectory(prefix="tark-") as folder:
        vsix = Path(folder, "tark.vsix")
        shutil.copyfile(source, vsix)
        _write_note(vsix, command)
        done = [_each(screen, kin, program, "--install-extension", str(vsix), "--force") for kin, program in editors]
    if any(done):
        screen.line(f"server     {visible(' '.join(command))}")
        if Path(command[0]).is_relative_to(Path.cwd()) and Path.cwd() != Path.home():
            screen.line("note       that one is in this folder, and gone when this folder is", "yellow")
        screen.line("next       reload the window if one is open, then Tark: Doctor in the command palette", "bold")
    return DONE if all(done) else NOT_DONE


def uninstall(screen: Screen) -> int:
    editors = _editors("remove it in the editor: Extensions, Tark, Uninstall")
    done = [_each(screen, kin, program, "--uninstall-extension", EXTENSION) for kin, program in editors]
    return DONE if all(done) else NOT_DONE


def _vsix() -> Path:
    checkout = ROOT / "editors" / "vscode"
    for path in (Path(str(files("tark_lsp")), "plugins", "vscode", "tark.vsix"), checkout / "dist" / "tark.vsix"):
        if path.is_file():
            return path
    if checkout.is_dir():
        raise RequestError(
            "the extension is not packed yet in this checkout", hint=f"python {checkout / 'pack.py'}, which needs npm"
        )
    raise RequestError(
        "this tark-lsp came without the extension for VS Code: there was no npm where it was built",
        hint="with Node.js 20 or newer in PATH, install tark_lsp again",
    )


def _editors(hint: str) -> Sequence[tuple[Kin, str]]:
    """Those that are there, each with its program."""
    found = [(kin, program) for kin in KIN if (program := next(_programs(kin), None))]
    if not found:
        names = ", ".join(kin.program for kin in KIN)
        raise RequestError(f"no VS Code was found: none of {names} is in PATH", hint=hint)
    return found


def _programs(kin: Kin) -> Iterator[str]:
    """Not where PATH has a relative path, nor, on Windows, in the current folder: that may be the repository's own."""
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if Path(folder).is_absolute()]
    found = shutil.which(kin.program, path=os.pathsep.join(folders)) if folders else None
    if found and Path(found).is_absolute():
        yield found
    if sys.platform == "darwin" and kin.application:
        for applications in (Path("/Applications"), Path.home() / "Applications"):
            program = applications / f"{kin.application}.app" / "Contents" / "Resources" / "app" / "bin" / kin.program
            if os.access(program, os.X_OK):
                yield str(program)


def _write_note(vsix: Path, command: Sequence[str]) -> None:
    with zipfile.ZipFile(vsix, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(NOTE, json.dumps({"command": list(command), "version": __version__}))


def _each(screen: Screen, kin: Kin, program: str, *arguments: str) -> bool:
    """Whether it did as told; either way is said."""
    problem = _run(program, *arguments)
    removing = arguments[0] == "--uninstall-extension"
    where = f"{kin.name}: {visible(program)}"
    if problem is None:
        what = "removed    Tark from" if removing else f"installed  Tark {__version__} for"
        screen.line(f"{what} {where}", "green")
    else:
        screen.line(f"not done   {where}", "red")
        for line in problem.splitlines():
            screen.line(f"           {visible(line)}")
    return problem is None


def _run(*command: str) -> str | None:
    """What it said last, if it failed."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"it did not end within {SECONDS} s"
    return None if done.returncode == 0 else "\n".join(done.stdout.strip().splitlines()[-5:]) or "it did not say why"
