"""`tark-lsp permissions`: lists and revokes permanent permissions, and trusts a folder."""

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tark_lsp.cli.json_option import add_json_option, parse_with_json
from tark_lsp.cli.runtime import new_console
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, whole_line
from tark_lsp.folders import permissions_path
from tark_lsp.permissions.store import PermissionStore, PermissionsUnusable, StoredPermission
from tark_lsp.workspace.workspace_folders import is_too_wide

EPILOG = """\
A grant lets the agent run a command in the sandbox without asking, in one workspace folder. "Replaced" means that
another folder is at its path now, so the permission does not apply there.
What you allow for a turn or a session is not stored: your editor and tark-lsp chat (/permissions) list it.
A revoked permission is invalid everywhere at once, also in running turns.
Exit codes: 0 done; 1 there is no such ID, or the file cannot be used; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    parser = new_parser()
    options = parse_with_json(parser, arguments)
    screen = Screen(new_console(), Path.cwd())
    problems: list[str] = []
    store = PermissionStore(permissions_path, problems.append)
    try:
        if options.what == "trust":
            return _trust(screen, store, options.folder)
        if options.what == "revoke":
            if options.every == bool(options.ids):
                parser.error("give the IDs to revoke, or --all")
            return _revoke(screen, store, options.ids, every=options.every)
        return _list(screen, store, as_json=options.json)
    except (PermissionsUnusable, OSError) as error:
        screen.print_error(str(error))
        return NOT_DONE
    finally:
        store.close()
        for problem in problems:
            print(whole_line(problem), file=sys.stderr)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp permissions",
        description="Show what you allowed for always on this machine, and revoke it; trust a folder.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="what", metavar="list | trust | revoke")
    listing = actions.add_parser("list", help="list all permissions, the oldest first (the default)")
    add_json_option(parser, listing, "print one JSON object per line")
    trust = actions.add_parser("trust", help="trust a folder: its code is indexed, and commands can run in it unasked")
    trust.add_argument(
        "folder", nargs="?", metavar="FOLDER", type=Path, help="the workspace folder (default: this one)"
    )
    revoke = actions.add_parser("revoke", help="revoke permissions: commands ask again, folders are not trusted")
    revoke.add_argument("ids", nargs="*", metavar="ID", help="the first column of the list")
    revoke.add_argument("--all", dest="every", action="store_true", help="revoke all permissions of all folders")
    return parser


def _list(screen: Screen, store: PermissionStore, *, as_json: bool) -> int:
    found = store.permissions()
    for one in found:
        if as_json:
            print(json.dumps(_json(one), ensure_ascii=True))
        else:
            screen.print_line(_row(one))
    if not found and not as_json:
        screen.print_line("you allowed nothing for always")
    return DONE


def _trust(screen: Screen, store: PermissionStore, folder: Path | None) -> int:
    place = (folder or Path.cwd()).resolve()
    if is_too_wide(place):
        screen.print_error(f"{one_line(str(place))} is too wide to be trusted", "name the folder of one project")
        return NOT_DONE
    given = store.add(place)
    screen.print_line(f"trusted: {one_line(str(given.folder))}; to revoke it: tark-lsp permissions revoke {given.id}")
    return DONE


def _revoke(screen: Screen, store: PermissionStore, ids: Sequence[str], *, every: bool) -> int:
    before = {one.id: one for one in store.permissions()}
    wanted = list(before) if every else list(dict.fromkeys(ids))
    revoked = store.revoke(wanted)
    for one in revoked:
        shown = f"{one_line(str(before[one].folder))}: {whole_line(before[one].covers)}" if one in before else one
        screen.print_line(f"revoked: {shown}")
    missing = [one for one in wanted if one not in revoked]
    for one in missing:
        screen.print_error(f"there is no permission {one_line(one)!r}", "tark-lsp permissions lists them")
    if every and not revoked:
        screen.print_line("there was nothing to revoke")
    return NOT_DONE if missing else DONE


def _row(one: StoredPermission) -> str:
    when = datetime.fromtimestamp(one.given).astimezone().strftime("%Y-%m-%d %H:%M")
    replaced = "" if one.holds else " (replaced)"
    return f"{one.id}  {when}  {one_line(str(one.folder))}{replaced}: {whole_line(one.covers)}"


def _json(one: StoredPermission) -> dict[str, object]:
    given = datetime.fromtimestamp(one.given, UTC).isoformat()
    values = {"id": one.id, "kind": one.kind, "folder": str(one.folder), "covers": one.covers, "given": given}
    return {**values, "holds": one.holds}
