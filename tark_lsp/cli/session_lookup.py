"""Finds a session by its id, the start of its id (with or without `session-`), or a part of its title."""

from collections.abc import Mapping

from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError

MAX_NAMED = 5


def find_session_id(titles: Mapping[str, str], wanted: str) -> str:
    """Returns the id of the matching session of `titles` (id -> title). An exact id is preferred to the start of an id,
    and that to a title. Raises RequestError if none or several match.
    """
    words = wanted.lower()
    found = [session for session in titles if session == wanted]
    found = found or [session for session in titles if wanted and session.startswith((wanted, f"session-{wanted}"))]
    found = found or [session for session, title in titles.items() if words and words in title.lower()]
    if not found:
        raise RequestError(
            f"there is no session {one_line(wanted)!r}", hint="tark-lsp sessions --all lists all sessions"
        )
    if len(found) > 1:
        named = [f"{session} ({one_line(titles[session], 40)})" for session in found[:MAX_NAMED]]
        more = [f"{len(found) - MAX_NAMED} more"] if len(found) > MAX_NAMED else []
        raise RequestError(
            f"{one_line(wanted)!r} matches several sessions", hint=f"use one of {', '.join([*named, *more])}"
        )
    return found[0]
