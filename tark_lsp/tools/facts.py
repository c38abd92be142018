"""`ToolFacts`: what permission rules, modes and kinds of turn need to know about a tool.

Each tool declares its facts in its own module. A fact that is not declared has its strictest value: all rules for
reading, editing and running apply to the tool, only writing turns in mode build offer it, and its output is not
trusted.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from tark_lsp.messages import Mode


class TurnScope(StrEnum):
    """What a turn can change: nothing (it answers), the selection, or the workspace. The turn's kind decides this."""

    ANSWER = "answer"
    SELECTION = "selection"
    WORKSPACE = "workspace"


RuleSubject: TypeAlias = Literal["siblings", "itself", "move", "remove"]
"""What a deny or ask rule that names a tool applies to.

siblings      this tool and every tool that does the same: otherwise the model would use another one
itself        this tool only
move, remove  this tool, and this operation on a file, whichever tool performs it (a patch can delete files)
"""

ALL_MODES = frozenset(Mode)
ALL_SCOPES = frozenset(TurnScope)


@dataclass(frozen=True, slots=True)
class ToolFacts:
    reads: bool = True
    """The result shows text of files, so rules for reading apply to the tool."""
    edits: bool = True
    """It proposes edits of files. Rules for editing apply, and those for reading: an edit shows some of the lines."""
    runs: bool = True
    """It starts a program that the call chooses, so rules for `run_command` apply to it."""
    rule_subject: RuleSubject = "siblings"
    modes: frozenset[Mode] = frozenset({Mode.BUILD})
    scopes: frozenset[TurnScope] = frozenset({TurnScope.WORKSPACE})
    """The turns that offer the tool."""
    needs_selection: bool = False
    """Only turns with a selection offer the tool."""
    kind: str = ""
    """Only turns of this kind offer the tool, or of a named prompt that is based on it. Empty: all kinds."""
    untrusted_output: bool = True
    """The result can hold text that others wrote (files, pages, programs): data, never instructions."""
    allowed_as: str = ""
    """An allow rule for this tool covers the call, too: it runs a command line that this tool could run."""
    of_workspace: bool = False
    """That text is from the workspace, unless the call reads outside, so it makes nothing stricter (agent/taint.py)."""

    def rule_covers(self, other: "ToolFacts") -> bool:
        """Whether a deny or ask rule for a tool with these facts also applies to a tool with the facts `other`."""
        return self.rule_subject == "siblings" and (
            (self.reads and (other.reads or other.edits)) or (self.edits and other.edits) or (self.runs and other.runs)
        )


STRICTEST = ToolFacts()
