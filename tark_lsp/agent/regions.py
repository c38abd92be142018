"""Ranges of lines, and where hunks move them. Pure."""

from collections.abc import Sequence

from tark_lsp.workspace.lines import Hunk


def regions_after(hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """Where each hunk's new lines stand once all of them are applied: [start, end)."""
    regions, grown = [], 0
    for hunk in hunks:
        start = hunk.start + grown
        regions.append((start, start + len(hunk.new)))
        grown += len(hunk.new) - len(hunk.old)
    return regions


def carried(region: tuple[int, int], hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Where the region is after `hunks`, of the text it is in; what overlaps it is taken in."""
    start, end = region
    before = inside = 0
    for hunk in hunks:
        grown = len(hunk.new) - len(hunk.old)
        if hunk.end <= region[0]:
            before += grown
        elif hunk.start < region[1]:
            start, end = min(start, hunk.start), max(end, hunk.end)
            inside += grown
    return start + before, end + before + inside


def touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Ranges that share a line or, where one is empty (a deletion), a border."""
    return one[0] <= other[1] and other[0] <= one[1]
