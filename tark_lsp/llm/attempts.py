"""What has been tried for one request, and how it is sent again."""

from dataclasses import dataclass, field

from tark_lsp.llm.events import Dropped, StreamEvent
from tark_lsp.llm.fallbacks import Fallback
from tark_lsp.llm.wire.wire import TargetModel


@dataclass(slots=True)
class Attempts:
    """What has been tried for one request."""

    started: float
    target: TargetModel
    count: int = 0
    renewed: bool = False
    left_out: list[Fallback] = field(default_factory=list)
    dropped: set[Dropped] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Resend:
    """The request is sent again after `wait` seconds. `event` is for the reader of the stream."""

    wait: float = 0.0
    event: StreamEvent | None = None
