"""Makes the `TurnUser` of each turn."""

from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.kinds import level_of
from tark_lsp.review.alarms import Alarms
from tark_lsp.review.decisions import Reviews
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.prompting.comments import PromptComment, find_comments
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.server.turns.turn_user import TurnUser
from tark_lsp.settings import Settings
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.lines import split_lines


class TurnUsers:
    def __init__(self, asking: PermissionAsking, reviews: Reviews) -> None:
        self._asking = asking
        self._reviews = reviews
        self._alarms = Alarms(reviews)

    def user_of(self, record: TurnRecord, context: ToolContext, settings: Settings, review: EditReview) -> TurnUser:
        self._alarms.end_all()
        return TurnUser(
            record.id,
            record.session.id,
            context,
            self._asking,
            self._reviews,
            review_after=lambda: review.when(level_of(record.kind, record.session.approval)) == "after",
            comment=_comment(record),
            alarms=self._alarms if settings.check_after_edit else None,
        )


def _comment(record: TurnRecord) -> PromptComment | None:
    """The `tark:` comment that the prompt came from, if it is still there."""
    wanted, target = record.request.comment, record.target
    if wanted is None or target is None or not target.is_file:
        return None
    snapshot = target.selection.snapshot
    lines = split_lines(snapshot.text)
    found = find_comments(lines, target.language_id or snapshot.path.suffix.removeprefix("."), snapshot)
    # The lines in the request are from the time of the action, so only a comment with exactly this prompt is removed.
    same = [comment for comment in found if comment.prompt == record.request.prompt]
    return min(same, key=lambda comment: abs(comment.start - wanted.start.line), default=None)
