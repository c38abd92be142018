"""`tark-lsp sessions`: lists, shows, renames, deletes, exports and imports stored sessions, without an editor."""

import os
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

EPILOG = """\
SESSION is an id, the start of one (with or without "session-"), or a part of the title, as the list shows it.
Without --all, the list has the sessions whose workspace is the current folder, contains it, or is inside it.
A session that is open in an editor can be listed, shown and exported, but not renamed or deleted.
To continue a session, use your editor, or tark-lsp chat --resume SESSION.
Exit codes: 0 done; 1 you answered no, or an error; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    parser = new_parser()
    options = parser.parse_args(arguments)
    if options.what not in (None, "list") and (options.all or options.json):
        parser.error("--all and --json work only with the list")
    from tark_lsp.cli.runtime import new_console, run_to_exit_code
    from tark_lsp.cli.screen import Screen
    from tark_lsp.cli.stored_sessions import StoredSessions

    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(), folder)
    return run_to_exit_code(StoredSessions(screen, folder).run(options), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp sessions",
        description="Manage your stored sessions with the agent.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="what", metavar="list | show | rename | delete | export | import")
    listing = actions.add_parser("list", help="list the sessions, the newest first (the default)")
    for accepting, default in ((parser, False), (listing, SUPPRESS)):  # both: an option before `list` is kept
        accepting.add_argument("--all", action="store_true", default=default, help="list the sessions of every folder")
        accepting.add_argument("--json", action="store_true", default=default, help="print the list as JSON")
    show = actions.add_parser("show", help="print the messages as Markdown")
    show.add_argument("session", metavar="SESSION", nargs="+")
    rename = actions.add_parser("rename", help="change the title")
    rename.add_argument("session", metavar="SESSION")
    rename.add_argument("title", metavar="TITLE")
    delete = actions.add_parser("delete", help="delete sessions; their cost stays in the usage")
    delete.add_argument("session", metavar="SESSION", nargs="+")
    delete.add_argument("--yes", action="store_true", help="delete without asking")
    export = actions.add_parser("export", help="write a session to a file, and print the path")
    export.add_argument("session", metavar="SESSION")
    export.add_argument("--format", choices=("markdown", "json"), default="markdown")
    export.add_argument("--output", metavar="FILE", type=Path, help="a new file; default: in the state folder")
    importing = actions.add_parser("import", help="create a session of the current folder from a JSON export")
    importing.add_argument("file", metavar="FILE", type=Path)
    importing.add_argument("--title", default="")
    return parser
