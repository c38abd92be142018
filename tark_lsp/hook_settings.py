"""The settings of hooks (docs/hooks.md)."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from tark_lsp.settings_types import Header, Seconds, Section, matching

HookEvent = Literal["sessionStart", "turnStart", "beforeTool", "afterTool", "beforeEdit", "afterEdit", "turnEnd"]
OneLine = Annotated[str, matching(r"[^\r\n\0]+", "must be one line, and not empty")]
HookName = Annotated[
    str,
    matching(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "must be a name of at most 40 letters, digits, - and _"),
]


class HookSettings(Section):
    """`tools`: globs over the names of tools. `files`: globs over the paths of edits. Both: empty means all.

    `sandbox`: false runs the command without the sandbox. `network`: whether the sandbox allows the network.
    """

    name: HookName
    on: HookEvent
    command: OneLine
    args: tuple[Header, ...] = ()
    tools: tuple[OneLine, ...] = ()
    files: tuple[OneLine, ...] = ()
    enabled: StrictBool = True
    timeout_seconds: Annotated[Seconds, Field(le=600)] = 10.0
    sandbox: StrictBool = True
    network: StrictBool = False
