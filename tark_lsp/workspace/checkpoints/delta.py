"""Stores a version of a file as a delta to an earlier version: one replaced range. This saves space. Pure."""

from tark_lsp.workspace.lines import common_prefix, common_suffix

LENGTH = 8
"""Bytes of each of the two numbers at the beginning of a delta."""


def make_delta(base: bytes, data: bytes) -> bytes:
    """Omits the bytes that `base` and `data` have in common at the beginning and at the end."""
    head = common_prefix(base, data)
    tail = common_suffix(base, data, min(len(base), len(data)) - head)
    return head.to_bytes(LENGTH) + tail.to_bytes(LENGTH) + data[head : len(data) - tail]


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """Returns the `data` of `make_delta(base, data)`."""
    head, tail = int.from_bytes(delta[:LENGTH]), int.from_bytes(delta[LENGTH : 2 * LENGTH])
    return base[:head] + delta[2 * LENGTH :] + base[len(base) - tail :]
