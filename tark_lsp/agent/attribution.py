"""Which changes of a proposal are those of which call: lines carried forward through the calls after it. Pure."""

from collections.abc import Iterable, Sequence

from tark_lsp.agent.parts import Draft
from tark_lsp.agent.person import HunkOutcome
from tark_lsp.agent.regions import carried, regions_after, touch
from tark_lsp.workspace.edits import ProposedEdit


def concerned(
    each: Draft, later: Iterable[Draft], edit: ProposedEdit, outcomes: Sequence[HunkOutcome]
) -> list[HunkOutcome]:
    """The outcomes of the proposal's changes of one file that hold changes of this call.

    Each call's changes are carried forward through the calls after it, to line numbers in the text of the whole
    proposal, and compared with where the proposal's hunks stand there. A file is moved or removed by the call that
    says so; what other calls wrote into a file that is removed is part of what is removed.
    """
    mine = [own for own in each.own if own.path == edit.path]
    regions = [region for own in mine for region in regions_after(own.hunks)]
    for following in later:
        for own in following.own:
            if own.path == edit.path:
                regions = [carried(region, own.hunks) for region in regions]
    places = dict(zip(edit.hunks, regions_after(edit.hunks), strict=True))

    def concerns(outcome: HunkOutcome) -> bool:
        if outcome.operation and any(own.operation == outcome.operation for own in mine):
            return True
        return outcome.operation != "move" and any(touch(places[outcome.hunk], region) for region in regions)

    return [outcome for outcome in outcomes if outcome.path == edit.path and concerns(outcome)]
