"""Reads the changes for a review. Because the user asked for the review, they are asked for permission only if a rule
requires it, or if git reads outside the workspace."""

import asyncio
from dataclasses import replace

from tark_lsp.agent.approval import Ask, Deny, decide_call, is_read_asked, is_read_denied
from tark_lsp.agent.kinds import SLASH_NAME
from tark_lsp.errors import RequestError, TarkError
from tark_lsp.server.prompting.mention_access import MentionAccess, NotAvailable, ask_user
from tark_lsp.server.protocol.readable_text import message_for_user
from tark_lsp.tools import read_changes
from tark_lsp.tools.read_changes import Changes, ReadChangesArguments
from tark_lsp.tools.review_diff import find_base, is_empty, review_text
from tark_lsp.tools.tool import Preview

BRANCH = "branch"
"""The first word of a prompt that asks for the whole branch, even if there are uncommitted changes."""
SECONDS = 60.0
NAME = "The changes to review"
NOTHING = "there are no uncommitted changes, and no commits that the base branch lacks"


async def changes_to_review(prompt: str, access: MentionAccess, notes: list[str]) -> tuple[str, str]:
    """The name and text of the changes. If there are none, the user gets a note that says why, and the model gets the
    same reason.

    Raises RequestError if there are no changes and the prompt says nothing else, because then there is nothing to do.
    """
    words = SLASH_NAME.sub("", prompt, count=1).split()
    try:
        return NAME, await _read(_with_rules(access), branch=words[:1] == [BRANCH])
    except TarkError as error:
        why = message_for_user(error.message)
        if words in ([], [BRANCH]):
            raise RequestError(f"nothing to review: {why}") from error
        notes.append(f"{NAME}: {why}")
        return NAME, f"[not there: {error.message}]"


def _with_rules(access: MentionAccess) -> MentionAccess:
    """`access` with the rules. The context of the tools does not have them before the turn begins."""
    rules, workspace = access.rules, access.context.workspace
    context = replace(
        access.context,
        is_read_denied=lambda path: is_read_denied(path, rules, workspace),
        is_read_asked=lambda path: is_read_asked(path, rules, workspace),
    )
    return replace(access, context=context)


async def _read(access: MentionAccess, *, branch: bool) -> str:
    """Raises TarkError."""
    preview, changes = await _collect("HEAD", access)
    if not branch and not is_empty(changes):
        return review_text(access.context, changes, "the last commit")
    against = "the last commit"
    if (base := await find_base(access.context, preview)) is not None:
        name, commit = base
        against = f"{name}, where this branch left it"
        _, changes = await _collect(commit, access)
    if is_empty(changes):
        raise NotAvailable(NOTHING)
    return review_text(access.context, changes, against)


async def _collect(base: str, access: MentionAccess) -> tuple[Preview, Changes]:
    """Raises TarkError."""
    wanted, context = ReadChangesArguments(base=base), access.context
    preview = await read_changes.preview(wanted, context)
    decision = decide_call("read_changes", preview, access.rules, context.workspace)
    if isinstance(decision, Deny):
        raise NotAvailable(decision.why)
    if isinstance(decision, Ask) and (decision.once or preview.outside):
        await ask_user(preview, decision.why, access)
    try:
        async with asyncio.timeout(SECONDS):
            return preview, await read_changes.collect(wanted, context, preview)
    except TimeoutError as error:
        raise NotAvailable(f"git did not end within {SECONDS:g} s") from error
