"""Collects the output of a command while it runs, and keeps its beginning and end in limited memory."""

from collections.abc import Callable

from tark_lsp.context.result_handles import lines_of
from tark_lsp.tools.results import count_noun, plain_text

AGAIN = "to see them, run the command again with `grep`, `head` or `tail`, or write its output to a file"


class HeadAndTail:
    """Keeps the first and the last `limit // 2` bytes; the bytes between are only counted."""

    def __init__(self, limit: int) -> None:
        self.half = max(1, limit // 2)
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0
        self.newlines = 0
        self.last = b""

    def feed_bytes(self, data: bytes) -> None:
        self.total += len(data)
        self.newlines += data.count(b"\n")
        self.last = data[-1:] or self.last
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    @property
    def lines(self) -> int:
        return self.newlines + (self.total > 0 and self.last != b"\n")

    @property
    def whole(self) -> bool:
        return self.total <= len(self.head) + min(len(self.tail), self.half)

    def text(self, read_on: Callable[[int], str] = lambda _: AGAIN) -> str:
        """The output as plain text. Invalid UTF-8 becomes U+FFFD. A note replaces the part that is left out.

        `read_on` gets the number of the first hidden line, from 1, and returns how the model can see it.
        """
        tail = self.tail[-self.half :]
        if self.whole:
            return plain_text((self.head + tail).decode("utf-8", "replace"))
        # Cut between lines, so that no character and no terminal escape is split.
        head = bytes(self.head[: self.head.rfind(b"\n") + 1] or self.head)
        tail_start = tail.find(b"\n") + 1
        tail = tail[tail_start:] if tail_start < len(tail) else tail
        shown = head.count(b"\n") + tail.count(b"\n") + (not tail.endswith(b"\n"))
        first = plain_text(head.decode("utf-8", "replace"))
        note = (
            f"[about {count_noun(max(1, self.lines - shown), 'line')} ({self.total - len(head) - len(tail):,} bytes) "
            f"left out; {read_on(len(lines_of(first.rstrip(chr(10)))) + 1)}]"
        )
        return (
            f"{first}{'' if first.endswith(chr(10)) else chr(10)}{note}\n{plain_text(tail.decode('utf-8', 'replace'))}"
        )
