"""The payload of `tark.codeBlock.apply`."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictStr

from tark_lsp.server.protocol.incoming import Payload


class ApplyCodeBlock(Payload):
    """`language`: of the fence. `path`: the file that the answer names. `create`: this file can be new. `uris`: files
    that the block may be about."""

    text: Annotated[StrictStr, Field(max_length=1_000_000)]
    language: StrictStr = ""
    path: StrictStr | None = None
    uris: Annotated[list[StrictStr], Field(max_length=50)] = Field(default_factory=list)
    create: StrictBool = False
    session_id: StrictStr | None = None
