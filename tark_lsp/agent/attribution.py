"""Finds the changes of a proposal that belong to a call, by following lines through the later calls. Pure."""

from collections.abc import Iterable, Sequence

from tark_lsp.agent.parts import Draft
from tark_lsp.agent.regions import carry_region, regions_after, regions_touch
from tark_lsp.agent.user_interface import HunkOutcome
from tark_lsp.workspace.edits import ProposedEdit


def outcomes_of_call(
    draft: Draft, later: Iterable[Draft], edit: ProposedEdit, outcomes: Sequence[HunkOutcome]
) -> list[HunkOutcome]:
    """The outcomes of those changes to one file that contain changes of this call.

    The regions that the call changes are mapped through the later calls to line numbers in the text of the whole
    proposal, and compared with the regions of the proposal's hunks there. A move or removal belongs to the call that
    makes it. If a file is removed, what other calls wrote into it is part of the removal.
    """
    mine = [own for own in draft.own if own.path == edit.path]
    regions = [region for own in mine for region in regions_after(own.hunks)]
    for following in later:
        for own in following.own:
            if own.path == edit.path:
                regions = [carry_region(region, own.hunks) for region in regions]
    places = dict(zip(edit.hunks, regions_after(edit.hunks), strict=True))

    def concerns(outcome: HunkOutcome) -> bool:
        if outcome.operation and any(own.operation == outcome.operation for own in mine):
            return True
        return outcome.operation != "move" and any(regions_touch(places[outcome.hunk], region) for region in regions)

    return [outcome for outcome in outcomes if outcome.path == edit.path and concerns(outcome)]
