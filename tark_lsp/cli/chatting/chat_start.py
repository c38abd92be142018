"""The options with which a chat starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ChatStart:
    """The options of the command line.

    settings     model and mode
    resume       a session's id or title; empty: let the user select one; None: a new session
    last         continue the newest session
    force_model  accept a model that the provider does not list
    """

    settings: Mapping[str, Any]
    resume: str | None = None
    last: bool = False
    force_model: bool = False
