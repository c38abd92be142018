"""Finds a session by its id, the start of its id (with or without `session-`), or a part of its title."""

from collections.abc import Collection, Mapping

from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError
from tark_lsp.server.client import Client

MAX_NAMED = 5
LONGEST_TITLE = 10_000


def find_session_id(titles: Mapping[str, str], wanted: str, near: Collection[str] = ()) -> str:
    """Returns the id of the matching session of `titles` (id -> title). Raises RequestError if none or several match.

    The order of preference is: an exact id, the start of an id, a whole title, a part of a title. If several titles
    match, those in `near` are preferred. A title can also be written as lists show it: cut, and with invisible
    characters as code points.
    """
    words = wanted.strip().lower()
    shown = {session: (title.lower(), one_line(title, LONGEST_TITLE).lower()) for session, title in titles.items()}
    found = [session for session in titles if session == wanted]
    found = found or [session for session in titles if wanted and session.startswith((wanted, f"session-{wanted}"))]
    if not found and words:
        titled = [session for session, forms in shown.items() if _is_whole(words, forms)]
        titled = titled or [session for session, forms in shown.items() if any(words in form for form in forms)]
        found = [session for session in titled if session in near] or titled
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


async def open_session(client: Client, wanted: str | None) -> str:
    """Opens the session that `wanted` names, or the newest one of this folder if `wanted` is None. Returns its id.

    Raises RequestError if there is none.
    """
    rows = (await client.command("tark.session.list"))["sessions"]
    titles = {row["sessionId"]: row.get("title") or "" for row in rows}
    if wanted is None and not titles:
        raise RequestError("there is no session in this folder", hint="tark-lsp sessions --all lists all sessions")
    found = next(iter(titles)) if wanted is None else find_session_id(titles, wanted)
    return str((await client.command("tark.session.open", {"sessionId": found}))["sessionId"])


def _is_whole(words: str, forms: Collection[str]) -> bool:
    cut = words.removesuffix("…")
    return any(words == form or (cut != words and cut and form.startswith(cut)) for form in forms)
