"""`ToolCallTracker`: turns fragments of tool calls, in any order and shape, into Start, Delta and Complete events.

A *slot* is where a fragment belongs: the provider's index, else its position. A slot can hold several calls, one after
another: some providers (Copilot with Claude) send all parallel calls at index 0, with different ids.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from tark_lsp.errors import ProtocolError
from tark_lsp.llm.events import StreamEvent, ToolCallComplete, ToolCallDelta, ToolCallStart
from tark_lsp.llm.wire.json_values import read_object


@dataclass(slots=True)
class _Call:
    """`given_id`: from the provider. `id`: Tark's, set when the call starts ("" before that)."""

    given_id: str = ""
    name: str = ""
    id: str = ""
    pieces: list[str] = field(default_factory=list)
    complete: bool = False


def is_json_object(text: str) -> bool:
    return bool(text.strip()) and read_object(text) is not None


def _starts_new_call(current: _Call, name: str) -> bool:
    """Whether a name without an id starts a new call: a different name, or the same after complete arguments."""
    if not (name and current.name):
        return False
    return name != current.name or is_json_object("".join(current.pieces))


class ToolCallTracker:
    """The calls of one answer. Every method returns the resulting events."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._slots: dict[Hashable, list[_Call]] = {}
        self._ids: set[str] = set()

    def add_fragment(
        self, slot: Hashable, *, call_id: str = "", name: str = "", arguments: str = ""
    ) -> list[StreamEvent]:
        """Adds a fragment. An empty `call_id` or `name`, or one that is known already, changes nothing.

        A call starts when both its id and its name are known. Arguments that arrive earlier are held back.
        """
        calls = self._slots.get(slot)
        call = calls[-1] if calls and not (call_id or name) else self._find_call(slot, call_id, name)
        if call.id:
            if call.complete or not arguments:
                return []
            call.pieces.append(arguments)
            return [ToolCallDelta(call.id, arguments)]
        call.given_id = call.given_id or call_id
        call.name = call.name or name
        if arguments:
            call.pieces.append(arguments)
        return self._start(call) if call.given_id and call.name else []

    def add_arguments(self, slot: Hashable, arguments: str) -> list[StreamEvent]:
        """Adds a fragment with neither id nor name, like all but a call's first. A fast path of `add_fragment`."""
        calls = self._slots.get(slot)
        if calls and arguments:
            call = calls[-1]
            if call.id and not call.complete:
                call.pieces.append(arguments)
                return [ToolCallDelta(call.id, arguments)]
        return self.add_fragment(slot, arguments=arguments)

    def complete_call(self, slot: Hashable, arguments: str | None = None) -> list[StreamEvent]:
        """Ends the slot's call. `arguments`, if given, replace the streamed ones. A second call has no effect."""
        calls = self._slots.get(slot)
        return self._complete(calls[-1], arguments) if calls else []

    def complete_all_calls(self, *, cut_off: bool = False, empty_is_whole: bool = False) -> list[StreamEvent]:
        """Ends the answer. Raises ProtocolError for a call that never got a name.

        `cut_off`: the answer may not have ended normally, so a call whose arguments are not a whole JSON object stays
        incomplete. `empty_is_whole`: but one without arguments is complete.
        """
        events: list[StreamEvent] = []
        for call in self._calls:
            arguments = "".join(call.pieces)
            whole = is_json_object(arguments) or (empty_is_whole and not arguments.strip())
            if cut_off and not call.complete and not whole:
                events += self._start(call) if call.name and not call.id else []
            else:
                events += self._complete(call, None)
        return events

    def _find_call(self, slot: Hashable, call_id: str, name: str) -> _Call:
        calls = self._slots.setdefault(slot, [])
        if calls:
            current = calls[-1]
            if call_id and current.given_id and call_id != current.given_id:
                earlier = next((call for call in calls if call.given_id == call_id), None)
                if earlier:
                    return earlier
            elif call_id or current.given_id or not _starts_new_call(current, name):
                return current
        call = _Call()
        calls.append(call)
        self._calls.append(call)
        return call

    def _start(self, call: _Call) -> list[StreamEvent]:
        call.id = self._unique(call.given_id)
        events: list[StreamEvent] = [ToolCallStart(call.id, call.name)]
        if call.pieces:
            events.append(ToolCallDelta(call.id, "".join(call.pieces)))
        return events

    def _complete(self, call: _Call, arguments: str | None) -> list[StreamEvent]:
        if call.complete:
            return []
        if not call.name:
            raise ProtocolError("the provider sent a tool call without a name")
        events = [] if call.id else self._start(call)
        call.complete = True
        text = "".join(call.pieces) if arguments is None else arguments
        return [*events, ToolCallComplete(call.id, text if text.strip() else "{}")]

    def _unique(self, given_id: str) -> str:
        """Some providers send no id, or one id for two calls. Counting gives the same ids for the same stream."""
        unique, number = given_id or "call_1", 1
        while unique in self._ids:
            number += 1
            unique = f"{given_id or 'call'}_{number}"
        self._ids.add(unique)
        return unique
