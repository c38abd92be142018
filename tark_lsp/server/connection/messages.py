"""JSON-RPC 2.0 messages as plain dicts: converts bytes to a checked message and back, and checks params. Pure."""

import inspect
import json
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard, TypeVar, get_type_hints

from tark_lsp.errors import RequestError

if TYPE_CHECKING:
    from pydantic import BaseModel

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800

MessageId: TypeAlias = int | str
Message: TypeAlias = dict[str, Any]
P = TypeVar("P", bound="BaseModel")


def decode_message(body: bytes | None) -> Message:
    """The JSON object in `body`. None: the body was too large to keep. Raises RequestError.

    Only the top level is read as an envelope. Params and results are data, whatever their keys.
    """
    try:
        if body is None:
            raise ValueError("too large")
        message = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"not a message: {error}", rpc_code=PARSE_ERROR) from error
    if not isinstance(message, dict):
        raise RequestError("a message is one JSON object", rpc_code=INVALID_REQUEST)
    return message


def encode_message(message: Message) -> bytes:
    # ASCII, because a lone surrogate in an editor's text has no UTF-8 encoding, only an escape.
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")


def is_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def is_response(message: Message) -> bool:
    return "method" not in message and "id" in message


def check_envelope(message: Message) -> None:
    """Raises RequestError if the message is neither a request nor a notification."""
    known_id = "id" not in message or is_id(message["id"])
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str) or not known_id:
        raise RequestError("not a message of JSON-RPC 2.0", rpc_code=INVALID_REQUEST)


def checked_params(handler: Callable[..., Any], params: object) -> Any:
    """The argument of the handler: an instance of the pydantic model in its annotation, else a dict; {} for None.

    Raises RequestError -32602 with the names of wrong fields, but without their values, which can be whole files.
    """
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise RequestError("params must be an object", rpc_code=INVALID_PARAMS)
    model = _params_model(handler)
    return params if model is None else validate_params(model, params)


def validate_params(model: "type[P]", params: dict[str, Any]) -> "P":
    """Raises RequestError as `checked_params` does."""
    from pydantic import ValidationError

    try:
        return model.model_validate(params)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, item['loc'])) or 'params'}: {item['msg']}" for item in error.errors()[:3]]
        raise RequestError("; ".join(wrong), rpc_code=INVALID_PARAMS) from None


@cache
def _params_model(handler: Callable[..., Any]) -> "type[BaseModel] | None":
    while isinstance(handler, partial):
        handler = handler.func
    hints = get_type_hints(handler)
    annotation = next((hints.get(name) for name in inspect.signature(handler).parameters), None)
    return annotation if hasattr(annotation, "model_validate") else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
