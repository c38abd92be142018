"""Text from outside the workspace in a turn: where it comes from, and what it makes stricter. Pure.

A page or a file can tell the model what to do. So from then on, nothing in the turn that can reach the network runs
unasked, and no grant beyond the exact call holds or is offered (safety.md, "After text from outside").
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.agent.grants import SCOPES, Grant
from tark_lsp.context.result_handles import page_head
from tark_lsp.tools.tool import Preview, Tool, ToolContext

LONGEST_SOURCE = 200

DOWNLOADERS = frozenset(
    {"curl", "wget", "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "elinks", "ftp", "sftp", "scp", "rsync"}
    | {"ssh", "nc", "ncat", "telnet", "socat", "gh", "glab", "clone", "fetch", "pull", "ls-remote", "Invoke-WebRequest"}
)
"""Words of a command without a sandbox that gets text from elsewhere. Others are taken for commands on the workspace,
as tests and builds are, although they could connect: nobody can know."""


def source_of(tool: Tool[Any], preview: Preview, result: str, display: Callable[[Path], str]) -> str:
    """Where the text of the result comes from, to follow "it read". Empty: from the workspace, from us, or the user."""
    facts, command = tool.facts, preview.command
    if not facts.untrusted_output:
        return ""
    if head := page_head(result):  # also of a page that was fetched earlier, and is read on
        return shortened(head.split()[3].rstrip("."))
    if preview.url:
        return shortened(preview.url)
    if preview.outside:
        return display(preview.outside[0])
    if facts.of_workspace:
        return ""
    if command is None:
        return f"the result of {tool.name}"
    downloads = not command.confined and not DOWNLOADERS.isdisjoint(re.findall(r"[\w-]+", command.text))
    from_outside = command.beyond or downloads
    return f"the output of `{shortened(' '.join(command.text.split()))}`" if from_outside else ""


def note_source(ctx: ToolContext, tool: Tool[Any], preview: Preview, result: str) -> None:
    """Remembers where the text of a result comes from, for the rest of the turn."""
    if source := source_of(tool, preview, result, ctx.workspace.display):
        ctx.outside_sources.append(source)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SOURCE else f"{text[:LONGEST_SOURCE]}..."


def describe_sources(sources: Sequence[str]) -> str:
    """The first of them and how many more there are; empty if there are none."""
    different = list(dict.fromkeys(sources))
    if not different:
        return ""
    more = len(different) - 1
    return different[0] + (f" and {more} more" if more else "")


def narrow(grants: Iterable[Grant]) -> tuple[Grant, ...]:
    """Those for exactly one command, or for edits, that end with the turn or the session."""
    return tuple(grant for grant in grants if grant.scope in SCOPES and not grant.is_wide)
