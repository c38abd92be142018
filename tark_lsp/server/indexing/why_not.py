"""Why the open folders cannot be indexed, in the words of the server and `tark-lsp index`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.settings import Settings
from tark_lsp.workspace.workspace_folders import is_too_wide


@dataclass(frozen=True, slots=True)
class WhyNot:
    """`reason` is a clause, `advice` says what the user can do."""

    reason: str
    advice: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.advice}"


def why_not_indexed(
    folders: Sequence[Path], settings: Settings, is_trusted: Callable[[Sequence[Path]], bool]
) -> WhyNot | None:
    """None if they can be indexed. `folders`: the open ones. `is_trusted`: whether the user trusts all of them."""
    if not folders:
        return WhyNot("no folder is open in the editor", "open one")
    if wide := next(filter(is_too_wide, folders), None):
        return WhyNot(f"{wide} is too wide to be indexed", "open the folder of a project")
    if not settings.index.enabled:
        return WhyNot("the setting index.enabled is false", "set it to true in your settings")
    if is_trusted(folders):
        return None
    if settings.workspace_trusted is False:
        return WhyNot("this workspace is not trusted", "trust it in your editor")
    return WhyNot(
        "this workspace is not trusted", "run `tark-lsp permissions trust` in it, or answer Trust when Tark asks"
    )
