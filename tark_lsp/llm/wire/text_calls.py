"""Finds tool calls that are written as text while an answer streams: for models without native tool calls.

Only calls of declared tools are found, never inside code or inside a call of another tool, and never half a call. What
does not close, or turns out not to be a call, stays text. Text outside calls is passed on at once, except for the start
of a possible marker.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from tark_lsp.llm.events import (
    Done,
    Notice,
    Retry,
    Stall,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallComplete,
    ToolCallStart,
    UsageUpdate,
    WireStop,
)
from tark_lsp.llm.wire.markdown_code import MarkdownCode
from tark_lsp.llm.wire.text_call_forms import (
    FOLLOWING,
    FUNCTION_ENDS,
    SPACE,
    TOOL_CALL,
    TOOL_CALL_ENDS,
    CallBlock,
    JsonForm,
    ParameterForm,
    TextCall,
)
from tark_lsp.llm.wire.text_call_undeclared import UndeclaredCalls
from tark_lsp.llm.wire.text_call_values import skip_spaces
from tark_lsp.messages import ToolDefinition

MAX_HELD = 1024 * 1024
"""Characters of an open call. If an answer holds back more, no further call is searched for."""

MAX_FALSE_MARKERS = 100
"""Markers that were not calls. After this many no further call is searched for: each one costs a search."""

SPACE_AFTER_CALL = re.compile(r"[ \t\r]{0,1000}")
"""White space between a call and the end of its line. After this much the search stops."""

OVERTAKING_EVENTS = (ThinkingDelta, UsageUpdate, Notice, Retry, Stall)
"""Events that can overtake text."""


class Form(Protocol):
    def read_block(self, text: str, final: bool) -> CallBlock | None: ...


class TextCalls:
    """An `EventFilter` for one answer."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._functions = {f"<function={name}>": name for name in self._tools}
        self._markers = (TOOL_CALL, *self._functions)
        self._marker = re.compile("|".join(map(re.escape, sorted(self._markers, key=len, reverse=True))))
        self._code = MarkdownCode()
        self._undeclared = UndeclaredCalls(self._tools)
        self._false_markers = 0  # markers that were not calls
        self._held = ""  # the start of a possible marker, or everything from a marker on
        self._form: Form | None = None  # the form of the marker at the start of the held text
        self._block: CallBlock | None = None  # what that form has read, while it is undecided whether it stands alone
        self._alone = True  # nothing is before that marker on its line
        self._after_call = False  # except for white space
        self._leftover = False  # the close of a block around a function can follow
        self._gave_up = False
        self._calls = 0
        self._ids: set[str] = set()

    def feed_events(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        out: list[StreamEvent] = []
        for event in events:
            if isinstance(event, TextDelta):
                self._read(event.text, out, final=False)
                continue
            if isinstance(event, ToolCallStart):
                self._ids.add(event.id)
            if isinstance(event, Done) and event.stop_reason not in (WireStop.END_TURN, WireStop.TOOL_CALLS):
                out += self.close()  # cut off: what looks like the end of a call can be its middle
            elif not isinstance(event, OVERTAKING_EVENTS):
                self._read("", out, final=True)
            out.append(event)
        return out

    def close(self) -> list[StreamEvent]:
        """The answer was cut off: returns the held text as text."""
        held, self._held = self._held, ""
        self._form = self._block = None
        return [TextDelta(held)] if held else []

    def _read(self, text: str, out: list[StreamEvent], final: bool) -> None:
        self._held += text
        while self._held and (self._form is not None or self._find_call(out, final)):
            assert self._form is not None
            block = self._block or self._form.read_block(
                self._held[: MAX_HELD + 1], final or len(self._held) > MAX_HELD
            )
            if block is None or (block.calls and not self._stands_alone(block, final)):
                self._block = block
                return
            self._form = self._block = None
            if block.calls and self._alone:
                self._leftover = self._held.endswith(FUNCTION_ENDS, 0, block.end)
                self._held = self._held[block.end :]
                self._call(block.calls, out)
            else:
                self._pass_false_marker(block.end, out)
                self._gave_up |= not block.closed  # what follows can be inside a call

    def _find_call(self, out: list[StreamEvent], final: bool) -> bool:
        """Passes on the text before the next call. Returns whether a call starts; the held text then starts with it."""
        while self._held:
            if self._leftover:
                place = skip_spaces(SPACE, self._held, 0)
                if self._held.startswith(TOOL_CALL_ENDS, place):
                    self._held = self._held[place + len(TOOL_CALL_ENDS) :]
                    self._leftover = False
                    continue
                if not final and self._begins_one_of([TOOL_CALL_ENDS], place):
                    return False
            found = None if self._gave_up else self._marker.search(self._held)
            if found is None:
                self._pass_text(len(self._held) - (0 if final or self._gave_up else self._prefix_length()), out)
                return False
            self._pass_text(found.start(), out)
            marker = found[0]
            inside = self._code.is_in_code(self._held, final)
            if inside is None:
                return False
            if not inside and not self._undeclared.is_open():
                self._alone = self._code.begins_line or self._after_call or marker == TOOL_CALL
                self._form = self._form_of(marker, len(marker))
                if self._form is not None:
                    return True
                if not final and self._undecided(marker):
                    return False
            self._pass_false_marker(len(marker), out)
        return False

    def _pass_false_marker(self, length: int, out: list[StreamEvent]) -> None:
        self._false_markers += 1
        self._gave_up |= self._false_markers >= MAX_FALSE_MARKERS
        self._pass_text(length, out)

    def _form_of(self, marker: str, end: int) -> Form | None:
        """The form that the marker ending at `end` opens, by what follows it. None: no form, or not decided yet."""
        place = skip_spaces(SPACE, self._held, end)
        if marker != TOOL_CALL:
            name = self._functions[marker]
            if self._held.startswith("{", place):
                return JsonForm(self._tools, end, FUNCTION_ENDS, name)
            if self._held.startswith(FOLLOWING, place):
                return ParameterForm(self._tools[name], end)
        elif self._held.startswith(("{", "["), place):
            return JsonForm(self._tools, end, TOOL_CALL_ENDS)
        elif (found := self._marker.match(self._held, place)) and found[0] in self._functions:
            return self._form_of(found[0], found.end())
        return None

    def _undecided(self, marker: str) -> bool:
        """Whether all text after the marker is the start of something that can follow a marker."""
        place = skip_spaces(SPACE, self._held, len(marker))
        words: Iterable[str] = FOLLOWING
        if marker == TOOL_CALL:
            if (found := self._marker.match(self._held, place)) and found[0] in self._functions:
                place = skip_spaces(SPACE, self._held, found.end())
            else:
                words = self._functions
        return self._begins_one_of(words, place)

    def _stands_alone(self, block: CallBlock, final: bool) -> bool:
        """False: not known yet. A function inside a sentence is prose: then `_alone` stays false."""
        if self._alone:
            return True
        place = skip_spaces(SPACE_AFTER_CALL, self._held, block.end)
        at_end = final and place == len(self._held)
        if at_end or self._held.startswith((" ", "\t", "\r", "\n", TOOL_CALL_ENDS, *self._markers), place):
            self._alone = True
        elif not final and self._begins_one_of((TOOL_CALL_ENDS, *self._markers), place):
            return False
        return True

    def _prefix_length(self) -> int:
        """How many characters at the end of the held text can be the start of a marker."""
        start = self._held.rfind("<")
        return len(self._held) - start if start >= 0 and self._begins_one_of(self._markers, start) else 0

    def _begins_one_of(self, words: Iterable[str], place: int) -> bool:
        """Whether all text from `place` on is the start of one of the words."""
        return any(word.startswith(self._held[place : place + len(word)]) for word in words)

    def _pass_text(self, length: int, out: list[StreamEvent]) -> None:
        text, self._held = self._held[:length], self._held[length:]
        if text:
            out.append(TextDelta(text))
            self._code.add_text(text)
            self._undeclared.add_text(text)
            self._after_call = self._after_call and not text.strip()
            self._leftover = False

    def _call(self, calls: Sequence[TextCall], out: list[StreamEvent]) -> None:
        for call in calls:
            self._calls += 1
            while (call_id := f"call_text_{self._calls}") in self._ids:
                self._calls += 1
            out += [ToolCallStart(call_id, call.name), ToolCallComplete(call_id, call.arguments)]
        self._code.add_break()
        self._undeclared.forget_text()
        self._after_call = True
