"""`tark-lsp index`: shows, builds and removes the code index of the current folder."""

import asyncio
import json
import os
import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tark_lsp.cli.json_option import add_json_option, parse_with_json
from tark_lsp.cli.runtime import new_console, run_to_exit_code, running_server
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.usable_settings import load_usable_settings
from tark_lsp.cli.visible import whole_line
from tark_lsp.errors import TarkError
from tark_lsp.folders import indexes_folder, permissions_path, uploads_path, user_config_path, workspace_config_path
from tark_lsp.index.cache_folder import ask_for_rebuild, bytes_in, lock_holder, try_lock, workspace_cache
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.index.stored import read_stored
from tark_lsp.permissions.store import PermissionStore
from tark_lsp.permissions.uploads import AllowedUploads
from tark_lsp.server.indexing.command import status_json
from tark_lsp.server.indexing.why_not import WhyNot, why_not_indexed
from tark_lsp.settings_loading import load_settings

EPILOG = """\
The index belongs to you and this folder. Your editor, tark-lsp chat and tark-lsp run build it when they need it, in a
folder that you trust (tark-lsp permissions trust). A workspace that you trust in VS Code counts as trusted only there.
Exit codes: 0 done, or there is an index; 1 there is none, or it failed; 2 wrong usage."""
LOOK_SECONDS = 0.2
SAY_SECONDS = 5.0
"""The interval of progress messages during a build."""


@dataclass(frozen=True, slots=True)
class FoundIndex:
    """The index of a folder. `place` is the folder where it is stored, and `holder` the process that has it open."""

    folder: Path
    place: Path
    stored: IndexStatus | None
    holder: int | None
    why_not: WhyNot | None

    @property
    def state(self) -> str:
        """`ready`, `building` (in a running process), `incomplete` (without one), `off` or `failed`."""
        if self.why_not is not None or self.stored is None:
            return "off"
        if self.stored.state is IndexState.BUILDING and self.holder is None:
            return "incomplete"
        return self.stored.state.value

    @property
    def sentence(self) -> str:
        used = f", open in process {self.holder}" if self.holder is not None else ""
        return f"{self.state}{used}{': ' if self.reason else ''}{self.reason}"

    @property
    def reason(self) -> str:
        if self.why_not is not None:
            return str(self.why_not)
        if self.stored is None:
            return "nothing is stored yet: it is built with your first prompt here, or now by `tark-lsp index rebuild`"
        return self.stored.reason


def main(arguments: Sequence[str]) -> int:
    options = parse_with_json(new_parser(), arguments, "status")
    screen = Screen(new_console(), Path.cwd())
    commands: Mapping[str, Callable[[], int]] = {
        "status": lambda: _status(screen, as_json=options.json),
        "rebuild": lambda: _rebuild(screen),
        "clear": lambda: _clear(screen, every=options.every),
    }
    try:
        return commands[options.what or "status"]()
    except TarkError as error:
        screen.print_error(error.message, error.hint)
        return NOT_DONE
    except OSError as error:
        screen.print_error(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        return NOT_DONE


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp index",
        description="Show, build or remove the code index of the current folder.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="what", metavar="status | rebuild | clear")
    status = actions.add_parser("status", help="show what is indexed, what is not and why (the default)")
    add_json_option(parser, status, "print one JSON object")
    actions.add_parser("rebuild", help="remove the index and build it again; also if a running server has it open")
    clear = actions.add_parser("clear", help="remove the index from the disk")
    clear.add_argument("--all", dest="every", action="store_true", help="remove the indexes of all folders")
    return parser


def _status(screen: Screen, *, as_json: bool) -> int:
    found = find_index(Path.cwd())
    if as_json:
        print(json.dumps(_json(found), ensure_ascii=True))
    else:
        for name, text in _rows(found):
            screen.print_line(f"{name + ':':13}{whole_line(text)}")
    return DONE if found.state in ("ready", "building", "incomplete") else NOT_DONE


def _rebuild(screen: Screen) -> int:
    load_usable_settings(Path.cwd())
    found = find_index(Path.cwd())
    if found.why_not is not None:
        screen.print_error(f"the index is not built: {found.why_not.reason}", found.why_not.advice)
        return NOT_DONE
    if ask_for_rebuild(found.place):
        screen.print_line(
            f"process {found.holder}, which has the index open, builds it again: see tark-lsp index status"
        )
        return DONE
    return run_to_exit_code(_build(found, screen), screen)


async def _build(found: FoundIndex, screen: Screen) -> int:
    async with running_server(found.folder, screen, yes=False) as (client, _):
        status = await client.command("tark.index.rebuild")
        loop = asyncio.get_running_loop()
        say_next = loop.time() + SAY_SECONDS
        while status["state"] == "building":
            await asyncio.sleep(LOOK_SECONDS)
            status = await client.command("tark.index.status")
            if loop.time() > say_next:
                say_next += SAY_SECONDS
                screen.print_line(f"files: {_done(status['indexed'], status['files'], is_building=True)}", "dim")
    if status["state"] != "ready":
        screen.print_error(f"the index is not built: {status['reason'] or status['state']}")
        return NOT_DONE
    return _status(screen, as_json=False)


def _clear(screen: Screen, *, every: bool) -> int:
    places = [workspace_cache(indexes_folder(), [Path.cwd().resolve()])]
    if every:
        places = sorted(indexes_folder().iterdir()) if indexes_folder().exists() else []
    AllowedUploads(uploads_path).forget(None if every else [Path.cwd()])
    removed = bytes_removed = 0
    code = DONE
    for place in filter(Path.is_dir, places):
        if place.is_symlink():  # the target of the link is not removed
            place.unlink()
            removed += 1
            continue
        lock = try_lock(place)
        if lock is None:
            screen.print_error(
                f"process {lock_holder(place)} has the index open, so it is not removed",
                "close the editor or chat that uses it, or set index.enabled to false, then try again",
            )
            code = NOT_DONE
            continue
        bytes_removed += bytes_in(place)
        removed += 1
        shutil.rmtree(place)
        os.close(lock)
    if removed:
        screen.print_line(
            f"removed: {_size(bytes_removed)}" + (f" of {removed} folder{'' if removed == 1 else 's'}" if every else "")
        )
    elif code == DONE:
        screen.print_line("there is no index to remove")
    return code


def find_index(folder: Path) -> FoundIndex:
    """Finds the index of a folder. Starts and changes nothing."""
    folder = folder.resolve()
    files = [workspace_config_path(folder)]
    settings, _ = load_settings(user_file=user_config_path(), environ=os.environ, workspace_files=files)
    store = PermissionStore(permissions_path, lambda _: None)  # `tark-lsp permissions` reports its problems
    try:
        why_not = why_not_indexed([folder], settings, store.is_trusted)
    finally:
        store.close()
    place = workspace_cache(indexes_folder(), [folder])
    return FoundIndex(folder, place, read_stored(place), lock_holder(place), why_not)


def _rows(found: FoundIndex) -> Iterator[tuple[str, str]]:
    stored = found.stored
    yield "folder", str(found.folder)
    yield "state", found.sentence
    if stored is None:
        return
    if stored.state is not IndexState.FAILED:
        yield "files", _done(stored.indexed, stored.files, is_building=stored.state is IndexState.BUILDING)
        yield "definitions", f"{stored.definitions:,}"
        yield "chunks", f"{stored.chunks:,}"
        if stored.skipped:
            yield "not indexed", ", ".join(f"{count:,} {reason}" for reason, count in stored.skipped)
        yield "not counted", "hidden files, and files that Git or .ignore ignores"
        yield "search", stored.vectors or "lexical only"
    yield "on disk", f"{_size(stored.bytes_on_disk)} in {found.place}"


def _json(found: FoundIndex) -> dict[str, Any]:
    stored = found.stored or IndexStatus(IndexState.OFF)
    return {
        "folder": str(found.folder),
        **status_json(stored),
        "state": found.state,
        "reason": found.reason,
        "share": _share(stored),
        "place": str(found.place),
        "process": found.holder,
    }


def _done(indexed: int, files: int, *, is_building: bool) -> str:
    if not files:
        return "not listed yet" if is_building else "there are none"
    return f"{indexed:,} of {files:,} are done ({indexed / files:.0%})"


def _share(status: IndexStatus) -> float:
    return status.indexed / status.files if status.files else 0.0


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"
