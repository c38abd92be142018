"""Keeps a history valid: each tool call has exactly one result, in the next message. Pure.

All providers refuse anything else, so a history is checked before every request, and completed at every end of a turn.
"""

from collections.abc import Mapping, Sequence

from tark_lsp.errors import TarkError
from tark_lsp.messages import Message, ToolCall, ToolResult


class InvalidHistory(TarkError):
    """A bug in Tark, never an error of the model or the user. Nothing is sent."""

    code = "invalid_history"


def results_message(calls: Sequence[ToolCall], results: Mapping[str, ToolResult], missing: str) -> Message:
    """The tool message for `calls`, in order. A call without a result gets the error `missing`."""
    return Message("tool", tuple(results.get(call.id) or ToolResult(call.id, missing, is_error=True) for call in calls))


def check_history(messages: Sequence[Message]) -> None:
    """Raises InvalidHistory unless every call of an assistant message has exactly one result in the next message."""
    for index, message in enumerate(messages):
        following = messages[index + 1] if index + 1 < len(messages) else None
        previous = messages[index - 1] if index else None
        if message.role == "assistant" and message.tool_calls:
            wanted = [call.id for call in message.tool_calls]
            if len(set(wanted)) != len(wanted):
                raise InvalidHistory(f"message {index}: two tool calls with one id")
            if following is None or following.role != "tool":
                raise InvalidHistory(f"message {index}: tool calls without results")
            given = [part.call_id for part in following.parts if isinstance(part, ToolResult)]
            if given != wanted:
                raise InvalidHistory(f"message {index + 1}: results {given} for calls {wanted}")
        elif message.role == "tool" and (previous is None or not previous.tool_calls):
            raise InvalidHistory(f"message {index}: results without calls")
        if not message.parts:
            raise InvalidHistory(f"message {index} is empty")
