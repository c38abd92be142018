"""The receipts of one turn: what was shown, who decided, and how it ended.

If a receipt cannot be stored, nothing runs without a question: the caller turns an `Allow` into an `Ask`. A call that
the user then approves runs, and the user gets one notice that it has no receipt.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tark_lsp.receipts.receipt import LONGEST_SUBJECT, Receipt, Step
from tark_lsp.receipts.store import ReceiptsUnusable

YOU = "you"


@dataclass(slots=True)
class TurnReceipts:
    """`append` stores receipts, or raises ReceiptsUnusable. If it is None, this turn keeps none. `mask` masks keys."""

    append: Callable[[Sequence[Receipt]], None] | None = None
    session: str = ""
    turn: str = ""
    mask: Callable[[str], str] = str
    failed: Callable[[str], None] = lambda _: None
    """Called with the reason when a receipt cannot be stored for the first time."""
    _problem: str = field(init=False, default="")
    _running: dict[str, Receipt] = field(init=False, default_factory=dict)
    """The receipts of approved calls that have not ended, by the id of the call."""

    def record(self, step: Step, call: str, tool: str, digest: str, subject: str, detail: str) -> str:
        """Store one receipt. Returns why it could not be stored; "" if it was."""
        if self.append is None:
            return ""
        receipt = Receipt(
            time.time(),
            self.session,
            self.turn,
            call,
            tool,
            step,
            digest,
            self.mask(subject)[:LONGEST_SUBJECT],
            self.mask(detail)[:LONGEST_SUBJECT],
        )
        if step is Step.APPROVED:
            self._running[call] = receipt
        return self._store(receipt)

    def about_to_run(self, call: str, digest: str) -> None:
        """`digest`: of what runs now. The receipt of the end contains it, so a difference from the approval shows."""
        if call in self._running:
            self._running[call] = replace(self._running[call], digest=digest)

    def end(self, call: str, detail: str, digest: str = "") -> None:
        """Store the end of a call, if it was approved and has not ended yet. `digest`: of what was really done, if that
        is less than what was approved."""
        if (receipt := self._running.pop(call, None)) is not None:
            ended = replace(receipt, at=time.time(), step=Step.ENDED, detail=self.mask(detail)[:LONGEST_SUBJECT])
            self._store(replace(ended, digest=digest) if digest else ended)

    def _store(self, receipt: Receipt) -> str:
        assert self.append is not None
        try:
            self.append([receipt])
        except ReceiptsUnusable as error:
            if not self._problem:
                self._problem = error.message
                self.failed(error.message)
            return error.message
        return ""
