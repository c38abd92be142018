"""A version of a file as an earlier one with one stretch replaced: so the log keeps many of a big file; pure."""

from tark_lsp.workspace.lines import common_prefix, common_suffix

LENGTH = 8
"""Bytes of each of the two numbers a difference begins with."""


def difference(base: bytes, data: bytes) -> bytes:
    """What `data` begins and ends with like `base` is left out."""
    head = common_prefix(base, data)
    tail = common_suffix(base, data, min(len(base), len(data)) - head)
    return head.to_bytes(LENGTH) + tail.to_bytes(LENGTH) + data[head : len(data) - tail]


def patched(base: bytes, changed: bytes) -> bytes:
    """`data` of `difference(base, data)`."""
    head, tail = int.from_bytes(changed[:LENGTH]), int.from_bytes(changed[LENGTH : 2 * LENGTH])
    return base[:head] + changed[2 * LENGTH :] + base[len(base) - tail :]
