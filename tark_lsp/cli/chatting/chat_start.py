"""How a chat begins, by its command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ChatStart:
    """`settings`: model and mode of the command line. `resume`: a session's id or title; empty: let the user pick one;
    None: a new session. `last`: continue the newest session. `force_model`: also a model that is not listed.
    """

    settings: Mapping[str, Any]
    resume: str | None = None
    last: bool = False
    force_model: bool = False
