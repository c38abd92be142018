"""`tark-lsp sessions`: lists, shows, renames, deletes, exports and imports what is stored, without an editor."""

import os
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

EPILOG = """\
SESSION is an id, enough of its start, with or without its "session-", or a part of its title.
Without --all, the list has the sessions of the current folder: of a workspace that it is, that it is in, or that is
in it.
A session that an editor has open can be listed, shown and exported, not renamed or deleted.
To go on with one: your editor, or tark-lsp chat --resume SESSION.
Exit codes: 0 done; 1 the answer was no, or an error; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.what not in (None, "list") and (options.all or options.json):
        parser.error("--all and --json are for the list")
    from tark_lsp.cli.screen import Screen
    from tark_lsp.cli.session import finish, new_console
    from tark_lsp.cli.stored_sessions import StoredSessions

    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(), folder)
    return finish(StoredSessions(screen, folder).run(options), screen)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp sessions",
        description="What is stored of your sessions with the agent.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    of = parser.add_subparsers(dest="what", metavar="list | show | rename | delete | export | import")
    listing = of.add_parser("list", help="the newest first; also what is done without a word")
    for each, default in ((parser, False), (listing, SUPPRESS)):  # both: what was said before `list` stays said
        each.add_argument("--all", action="store_true", default=default, help="list those of every folder")
        each.add_argument("--json", action="store_true", default=default, help="list them as JSON")
    of.add_parser("show", help="what was said, as Markdown").add_argument("session", metavar="SESSION")
    rename = of.add_parser("rename", help="call it something else")
    rename.add_argument("session", metavar="SESSION")
    rename.add_argument("title", metavar="TITLE")
    delete = of.add_parser("delete", help="what was said goes, what it cost stays counted")
    delete.add_argument("session", metavar="SESSION", nargs="+")
    delete.add_argument("--yes", action="store_true", help="unasked")
    export = of.add_parser("export", help="write it to a file, and say which")
    export.add_argument("session", metavar="SESSION")
    export.add_argument("--format", choices=("markdown", "json"), default="markdown")
    export.add_argument("--output", metavar="FILE", type=Path, help="a new file; default: in the state folder")
    taken = of.add_parser("import", help="an export in JSON becomes a session of the current folder")
    taken.add_argument("file", metavar="FILE", type=Path)
    taken.add_argument("--title", default="")
    return parser
