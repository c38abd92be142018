"""The exceptions of tark_lsp. Each says what went wrong, who can fix it, and what to do about it.

    TarkError
    ├── SettingsError             the user's configuration: a bad setting, an unknown provider
    │   ├── MissingKey            no API key for the provider
    │   └── NoModel               no model is set and none was found
    ├── RequestError              the editor's request: a wrong argument, an unknown id
    ├── WorkspaceError            a file operation of the model or the user is not possible
    │   ├── OutsideWorkspace      the path is outside the workspace folders
    │   ├── FileMissing           no such file
    │   ├── NotText               a directory, a binary file, text in an encoding that cannot be kept
    │   ├── FileTooLarge          larger than what is read into memory
    │   ├── StaleText             the text has changed since the edit was made for it
    │   └── WriteFailed           the file system refused the write
    ├── ToolError                 a tool call that is wrong, or that could not be carried out
    ├── McpError                  an MCP server that does not start, answer or keep to the protocol
    ├── HookError                 a hook of the user that fails, or that refuses a turn
    └── ModelError                the provider or the network
        ├── ConnectionFailed      no connection, or it broke before the answer began
        ├── ModelTimeout          no headers, or no bytes, for too long
        ├── StreamCut             the stream ended without its terminal event
        ├── ProtocolError         bytes that do not match the wire
        ├── AuthenticationFailed  401, 403: the key is wrong or not allowed to do this
        ├── RateLimited           429: too many requests
        ├── QuotaExceeded         402 and similar: no credit left; waiting does not help
        ├── ServerError           5xx: something failed at the provider
        ├── Overloaded            503, 529: the provider has too much to do
        ├── ContextOverflow       the request is longer than the model's window
        ├── ModelNotFound         404: no such model or path
        ├── UnsupportedOption     the model has no such option, or not with the rest of the request; it was not asked
        └── BadRequest            any other 4xx: the provider rejected the request

`asyncio.CancelledError` is not in the tree: cancellation is not an error, and every layer lets it pass.
"""

from collections.abc import Mapping
from typing import Any


class TarkError(Exception):
    """The base class. `code` is stable and for programs; `message` and `hint` are for the user.

    `hint` says what to do, in the imperative. It is empty if nothing helps.
    """

    code = "internal"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class SettingsError(TarkError):
    code = "settings"


class MissingKey(SettingsError):
    code = "missing_key"


class NoModel(SettingsError):
    code = "no_model"


class RequestError(TarkError):
    """Sent to the editor as JSON-RPC error -32602, or as `rpc_code` if the protocol names another."""

    code = "invalid_params"

    def __init__(self, message: str, *, hint: str = "", rpc_code: int = -32602) -> None:
        super().__init__(message, hint=hint)
        self.rpc_code = rpc_code


class FailureForModel(TarkError):
    """A failure that is reported to the model, as the line of JSON in tools.md ("Results").

    `code` is one of the codes there. `hint` becomes `retry_hint`. `details` are further fields of the line.
    """

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.details: Mapping[str, Any] = details or {}


class WorkspaceError(FailureForModel):
    code = "internal"


class OutsideWorkspace(WorkspaceError):
    code = "outside_workspace"


class FileMissing(WorkspaceError):
    code = "not_found"


class NotText(WorkspaceError):
    code = "unsupported"


class FileTooLarge(WorkspaceError):
    code = "too_large"


class StaleText(WorkspaceError):
    code = "stale"


class WriteFailed(WorkspaceError):
    code = "internal"


class ToolError(FailureForModel):
    """Raised by a tool. `code` is one of the codes of tools.md."""

    def __init__(self, code: str, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint, details=details)
        self.code = code


class McpError(TarkError):
    """`message` is a clause about the server, without its name."""

    code = "mcp"


class HookError(TarkError):
    """`message` is a clause about the hook, without its name, unless the hook refused a turn."""

    code = "hook"


class ModelError(TarkError):
    """`retry_after`: the wait that the provider requests, in seconds; None if it does not specify one."""

    code = "model"
    retryable = False

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ConnectionFailed(ModelError):
    code = "connection"
    retryable = True


class ModelTimeout(ModelError):
    code = "timeout"
    retryable = True


class StreamCut(ModelError):
    code = "stream_cut"
    retryable = True


class ProtocolError(ModelError):
    code = "protocol"


class AuthenticationFailed(ModelError):
    code = "authentication"


class RateLimited(ModelError):
    code = "rate_limited"
    retryable = True


class QuotaExceeded(ModelError):
    code = "quota"


class ServerError(ModelError):
    code = "server_error"
    retryable = True


class Overloaded(ModelError):
    code = "overloaded"
    retryable = True


class ContextOverflow(ModelError):
    code = "context_overflow"


class ModelNotFound(ModelError):
    code = "model_not_found"


class UnsupportedOption(ModelError):
    """`option` is the name of a field of `ChatOptions`."""

    code = "unsupported_option"

    def __init__(self, option: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.option = option


class BadRequest(ModelError):
    code = "bad_request"
