"""Tracks the sources of text from outside the workspace in a turn, and restricts grants after such text. Pure.

A page or a file can contain instructions to the model. So after the model read one, no call of the turn that can reach
the network runs without a question, and wide or permanent grants are neither valid nor offered (safety.md, "After text
from outside").
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
"""Words of a command that downloads text, if it runs without a sandbox. Other commands, such as tests and builds, count
as working on the workspace only. They could connect too, but that cannot be known."""


def source_of(tool: Tool[Any], preview: Preview, result: str, display: Callable[[Path], str]) -> str:
    """The source of the result's text, worded to follow "it read". Empty if that is the workspace, Tark or the user."""
    facts, command = tool.facts, preview.command
    if not facts.untrusted_output:
        return ""
    if head := page_head(result):  # also if an earlier page is read further
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
    """Remembers the source of a result's text for the rest of the turn."""
    if source := source_of(tool, preview, result, ctx.workspace.display):
        ctx.outside_sources.append(source)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SOURCE else f"{text[:LONGEST_SOURCE]}..."


def describe_sources(sources: Sequence[str]) -> str:
    """The first source, and the number of others; empty if there are none."""
    different = list(dict.fromkeys(sources))
    if not different:
        return ""
    more = len(different) - 1
    return different[0] + (f" and {more} more" if more else "")


def narrow(grants: Iterable[Grant]) -> tuple[Grant, ...]:
    """The grants that end with the turn or the session, without those that cover more than one command by patterns."""
    return tuple(grant for grant in grants if grant.scope in SCOPES and not grant.is_wide)
