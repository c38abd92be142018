"""`JsonResponse`: a value as the JSON body of an HTTP response."""

from typing import Any

from starlette.responses import Response

from tark_lsp.llm.wire.json_values import encode_json


class JsonResponse(Response):
    """Unlike Starlette's own class, it can encode lone surrogates, which clients and models sometimes send."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encode_json(content)
