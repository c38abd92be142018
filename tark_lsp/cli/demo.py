"""`tark-lsp demo`: a real turn on a temporary copy of a tiny project, with a script instead of a model."""

import asyncio
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.runtime import at_terminal, new_console, run_to_exit_code, running_server
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE, run_turn
from tark_lsp.cli.visible import visible
from tark_lsp.demo import FILE, MODEL, PROMPT, SELECTED_LINES, copy_demo, new_demo_folder

TESTS = [sys.executable, "-B", "-m", "unittest"]


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    folder = new_demo_folder()
    screen = Screen(new_console(), folder / "project")
    return run_to_exit_code(_demo(folder, screen, yes=options.yes), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp demo",
        description="See a turn of the agent: without a key, without network, without touching your files.",
    )
    parser.add_argument("--yes", action="store_true", help="answer the question with yes; for scripts")
    return parser


async def _demo(folder: Path, screen: Screen, *, yes: bool) -> int:
    copied = copy_demo(folder)
    project = copied.project
    screen.print_line(
        "This demo plays a script, not a model. Everything else is real: the server, the tools, the edit.", "bold"
    )
    screen.print_line(f"It works on a temporary copy: {project}")
    if not yes and not at_terminal():
        screen.print_line("This is not a terminal, so the question is answered with yes.", "yellow")
        yes = True
    before = _bytes(project)
    screen.print_line("\n$ python -m unittest", "bold")
    await _run_tests(project, screen)
    screen.print_line(f"\n{FILE}, lines {SELECTED_LINES[0] + 1}-{SELECTED_LINES[1] + 1}: {PROMPT}\n", "bold")
    settings = {
        "model": MODEL,
        "mode": "build",
        "approval": "careful",
        "providers": {"scripted": {"scenario": str(copied.scenario)}},
    }
    async with running_server(project, screen, yes=yes, settings=settings, environ=_environment(folder)) as (
        client,
        person,
    ):
        document = client.documents.open(project / FILE)
        first, last = SELECTED_LINES
        start = {
            "prompt": PROMPT,
            "textDocument": {"uri": document.uri, "version": document.version},
            "range": {
                "start": {"line": first, "character": 0},
                "end": {"line": last, "character": len(document.lines[last].rstrip())},
            },
        }
        code = await run_turn(client, screen, person, start)
    if _bytes(project) == before:
        screen.print_line("Nothing was changed: every byte is the same.")
        return NOT_DONE
    screen.print_line("\n$ python -m unittest", "bold")
    passed = await _run_tests(project, screen)
    screen.print_line(f"\nThe changed copy is in {project}. Next: tark-lsp doctor, then your editor (README.md).")
    return DONE if passed and code == DONE else NOT_DONE


def _environment(folder: Path) -> dict[str, str]:
    """The user's environment without Tark's settings, so that the demo runs the same way everywhere."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TARK_")}
    return own | {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}


def _bytes(project: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


async def _run_tests(project: Path, screen: Screen) -> bool:
    """Runs the project's tests and shows their output. Returns whether they pass."""
    process = await asyncio.create_subprocess_exec(
        *TESTS, cwd=project, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    passed = process.returncode == 0
    screen.print_line(visible(output.decode("utf-8", "replace").strip()), "green" if passed else "red")
    return passed
