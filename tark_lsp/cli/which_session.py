"""Which session a person means: by its id, enough of its start with or without `session-`, or a part of its title."""

from collections.abc import Mapping

from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError

MOST_NAMED = 5


def chosen(titles: Mapping[str, str], wanted: str) -> str:
    """The id of the one session of `titles` (id -> title) that is meant; an id goes before the start of one, and that
    before a title. Raises RequestError for none and for several."""
    words = wanted.lower()
    found = [each for each in titles if each == wanted]
    found = found or [each for each in titles if wanted and each.startswith((wanted, f"session-{wanted}"))]
    found = found or [each for each, title in titles.items() if words and words in title.lower()]
    if not found:
        raise RequestError(
            f"there is no session {one_line(wanted)!r}", hint="tark-lsp sessions --all lists all of them"
        )
    if len(found) > 1:
        named = [f"{each} ({one_line(titles[each], 40)})" for each in found[:MOST_NAMED]]
        more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        raise RequestError(
            f"{one_line(wanted)!r} could be several sessions", hint=f"one of {', '.join([*named, *more])}"
        )
    return found[0]
