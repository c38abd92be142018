"""Installs the extension for VS Code and related editors: each editor installs the .vsix of this package itself."""

import json
import os
import re
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
from tark_lsp.folders import logs_folder
from tark_lsp.visible import cut
from tark_lsp.workspace.programs import find_program

EXTENSION = "tark.tark"
NOTE = "extension/installed.json"
"""A file inside the .vsix that names the server to start (editors/vscode/src/server/environment.ts)."""
SECONDS = 180
ERROR = re.compile(r"(?:\[[^\]]*\] )?(?:Uncaught )?\w*Error\b[^:]*:\s+(.+)")
"""`TypeError: reason` or `Error while installing: reason`, also after a timestamp."""
TRACE = re.compile(r"at |[{}\]]+$")
NOISE = re.compile(rf"{TRACE.pattern}|\^+$|Node\.js v|throw |node:|\(node:|\(Use `")
"""Lines of a stack trace, and the lines that Node prints around it."""
LONGEST_REASON = 240


@dataclass(frozen=True, slots=True)
class CodeEditor:
    """An editor that accepts VS Code extensions. On macOS, the program can be in `application` instead of PATH."""

    program: str
    name: str
    application: str | None = None


CODE_EDITORS = (
    CodeEditor("code", "VS Code", "Visual Studio Code"),
    CodeEditor("code-insiders", "VS Code Insiders", "Visual Studio Code - Insiders"),
    CodeEditor("codium", "VSCodium", "VSCodium"),
    CodeEditor("cursor", "Cursor", "Cursor"),
    CodeEditor("code-server", "code-server"),
)


def install(screen: Screen, *, link: bool) -> int:
    if link:
        raise RequestError(
            "the extension for VS Code cannot be linked",
            hint="leave out --link; to work on it, see docs/contributing.md",
        )
    source = _vsix()
    editors = _editors(
        "in VS Code run `Shell Command: Install 'code' command in PATH` and try again, "
        f"or run `Extensions: Install from VSIX...` with {source}"
    )
    command = server_command()
    with tempfile.TemporaryDirectory(prefix="tark-") as folder:
        vsix = Path(folder, "tark.vsix")
        shutil.copyfile(source, vsix)
        _write_note(vsix, command)
        done = [
            _run_in_editor(screen, editor, program, "--install-extension", str(vsix), "--force")
            for editor, program in editors
        ]
    if any(done):
        screen.print_line(f"server     {visible(' '.join(command))}")
        if Path(command[0]).is_relative_to(Path.cwd()) and Path.cwd() != Path.home():
            screen.print_line("note       this server is in the current folder, and is deleted with it", "yellow")
        screen.print_line("next       reload open windows, then open Tark in the side bar", "bold")
    return DONE if all(done) else NOT_DONE


def uninstall(screen: Screen) -> int:
    editors = _editors("remove it in the editor: Extensions, Tark, Uninstall")
    done = [_run_in_editor(screen, editor, program, "--uninstall-extension", EXTENSION) for editor, program in editors]
    return DONE if all(done) else NOT_DONE


def _vsix() -> Path:
    checkout = ROOT / "editors" / "vscode"
    for path in (Path(str(files("tark_lsp")), "plugins", "vscode", "tark.vsix"), checkout / "dist" / "tark.vsix"):
        if path.is_file():
            return path
    if checkout.is_dir():
        raise RequestError(
            "the extension is not packed yet in this checkout",
            hint=f"run python {checkout / 'pack.py'}, which needs npm",
        )
    raise RequestError(
        "this tark-lsp does not contain the extension for VS Code: it was built without npm",
        hint="with Node.js 20 or newer in PATH, install tark_lsp again",
    )


def _editors(hint: str) -> Sequence[tuple[CodeEditor, str]]:
    """The installed editors, each with its program."""
    found = [(editor, program) for editor in CODE_EDITORS if (program := next(_programs(editor), None))]
    if not found:
        names = ", ".join(editor.program for editor in CODE_EDITORS)
        raise RequestError(f"no VS Code was found: none of {names} is in PATH", hint=hint)
    return found


def _programs(editor: CodeEditor) -> Iterator[str]:
    found = find_program(editor.program)
    if found:
        yield str(found)
    if sys.platform == "darwin" and editor.application:
        for applications in (Path("/Applications"), Path.home() / "Applications"):
            program = (
                applications / f"{editor.application}.app" / "Contents" / "Resources" / "app" / "bin" / editor.program
            )
            if os.access(program, os.X_OK):
                yield str(program)


def _write_note(vsix: Path, command: Sequence[str]) -> None:
    with zipfile.ZipFile(vsix, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(NOTE, json.dumps({"command": list(command), "version": __version__}))


def _run_in_editor(screen: Screen, editor: CodeEditor, program: str, *arguments: str) -> bool:
    """Prints the result, and returns whether it succeeded."""
    problem = _run(program, *arguments)
    removing = arguments[0] == "--uninstall-extension"
    where = f"{editor.name}: {visible(program)}"
    if problem is None:
        action = "removed    Tark from" if removing else f"installed  Tark {__version__} for"
        screen.print_line(f"{action} {where}", "green")
    else:
        reason = reason_in(problem)
        screen.print_line(f"not done   {where}", "red")
        screen.print_line(f"           {visible(reason)}")
        if problem.strip() not in ("", reason):
            screen.print_line(f"           all of its output: {visible(str(_store_output(editor, problem)))}")
    return problem is None


def reason_in(output: str) -> str:
    """The sentence in the output that says why the program failed. The programs run in Node, which prints an error
    between source lines and a stack trace. Text below a trace is the program's own message, so it is preferred."""
    lines = [line for line in map(str.strip, output.splitlines()) if line]
    traced = max((number for number, line in enumerate(lines, 1) if TRACE.match(line)), default=0)
    below, words = ([line for line in part if not NOISE.match(line)] for part in (lines[traced:], lines))
    if traced and below:
        return cut(below[0], LONGEST_REASON)
    named = (found[1] for line in words if (found := ERROR.match(line)))
    return cut(next(named, words[-1] if words else "it gave no reason"), LONGEST_REASON)


def _store_output(editor: CodeEditor, output: str) -> Path:
    """Writes the output to a file, which replaces the one of this editor's last failure. Returns its path."""
    file = logs_folder() / f"install-{editor.program}.log"
    file.write_text(output, encoding="utf-8")
    file.chmod(0o600)
    return file


def _run(*command: str) -> str | None:
    """Returns the output if the command failed, else None."""
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
    return None if done.returncode == 0 else done.stdout
