"""Computes how hunks move ranges of lines [start, end). Pure."""

from collections.abc import Sequence

from tark_lsp.workspace.lines import Hunk


def regions_after(hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """The range of each hunk's new lines after all hunks are applied."""
    regions, grown = [], 0
    for hunk in hunks:
        start = hunk.start + grown
        regions.append((start, start + len(hunk.new)))
        grown += len(hunk.new) - len(hunk.old)
    return regions


def carry_region(region: tuple[int, int], hunks: Sequence[Hunk]) -> tuple[int, int]:
    """The region after `hunks` are applied to its text. It grows to include every hunk that overlaps it."""
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
