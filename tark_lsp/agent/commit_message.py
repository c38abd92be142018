"""The request for the message of a Git commit, and the message in its answer. Pure.

Diffs and earlier messages come from the repository, so each is between tags that its text cannot close or open.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tark_lsp.agent.kinds import read_prompt
from tark_lsp.agent.side_request import SideRequest
from tark_lsp.context.hidden import without_hidden
from tark_lsp.context.system_part import tagged
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, Text

ChangeKind: TypeAlias = Literal["added", "modified", "deleted", "renamed"]

MOST_TOKENS = 4_000
"""The limit of the answer. It is high because some models think first."""
COMMIT_MESSAGE = SideRequest("commit", "commit message", longest=MOST_TOKENS, seconds=120.0)

MOST_FILES = 300
MOST_SUBJECTS = 20
LONGEST_SUBJECT = 200
LONGEST_DIFF = 24_000
"""The most characters of one file."""
LONGEST_DIFFS = 60_000
"""The most characters of all files together."""

NAME_ONLY = "[Only the name of this file is given.]"
CUT = "\n[The rest of this diff is left out.]"

FENCED = re.compile(r"(`{3,}|~{3,})[^\n`]*\n(.*?)\n?\1", re.DOTALL)
QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "«": "»"}


@dataclass(frozen=True, slots=True)
class FileChange:
    """If `diff` is None, only the name is given. `previous_path`: if the file was renamed."""

    path: str
    kind: ChangeKind = "modified"
    diff: str | None = None
    previous_path: str | None = None


def commit_request(changes: Sequence[FileChange], subjects: Sequence[str], window: int | None) -> ChatRequest:
    """`subjects`: first lines of earlier messages. `window`: tokens of the model's window, if known.

    The diffs get as many characters as the window has tokens, at most. That is about a quarter of the window, because a
    token is about four characters.
    """
    shown = changes[:MOST_FILES]
    allowed = shares([len(change.diff or "") for change in shown], min(LONGEST_DIFFS, window or LONGEST_DIFFS))
    parts = [_change(change, most) for change, most in zip(shown, allowed, strict=True)]
    if len(changes) > len(shown):
        parts.append(f"[{len(changes) - len(shown):,} more files are changed.]")
    if subjects:
        lines = [" ".join(without_hidden(subject)[0].split())[:LONGEST_SUBJECT] for subject in subjects[:MOST_SUBJECTS]]
        parts.append(tagged("subjects", "\n".join(lines), whose="project"))
    message = Message("user", (Text("\n\n".join(parts)),))
    return ChatRequest(read_prompt("commit"), (message,), max_output_tokens=MOST_TOKENS, starts_turn=True)


def shares(lengths: Sequence[int], most: int) -> list[int]:
    """How many characters of each diff are shown, `most` in total. Longer diffs get what short diffs do not need."""
    result = [0] * len(lengths)
    by_length = sorted(range(len(lengths)), key=lambda index: lengths[index])
    for done, index in enumerate(by_length):
        result[index] = min(lengths[index], LONGEST_DIFF, most // (len(lengths) - done))
        most -= result[index]
    return result


def read_message(answer: str) -> str:
    """The message, without a code fence or quotes around it, which some models add."""
    text = without_hidden(answer.replace("\r\n", "\n"))[0].strip()
    if fenced := FENCED.fullmatch(text):
        text = fenced[2].strip()
    if len(text) > 1 and QUOTES.get(text[0]) == text[-1] and not set(text[1:-1]) & {text[0], text[-1]}:
        text = text[1:-1].strip()
    return text


def _change(change: FileChange, most: int) -> str:
    renamed = {} if change.previous_path is None else {"before": change.previous_path}
    if change.diff is None:
        text = NAME_ONLY
    elif len(change.diff) > most:
        text = change.diff[:most].rpartition("\n")[0] + CUT
    else:
        text = change.diff
    return tagged("diff", without_hidden(text)[0], whose="project", file=change.path, change=change.kind, **renamed)
