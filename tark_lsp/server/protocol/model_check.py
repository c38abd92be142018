"""The payload of `tark.models.check` (protocol.md)."""

from tark_lsp.server.protocol.incoming import Payload
from tark_lsp.settings_types import ModelName


class CheckModel(Payload):
    model: ModelName
