"""Code actions on the problems that a review found: repair one, dismiss one or all."""

from collections.abc import Iterator

from tark_lsp.review.problems import Problems
from tark_lsp.review.wording import problem_text
from tark_lsp.server.actions.offers import QUICKFIX, Offer
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.outgoing import problem_range
from tark_lsp.visible import cut
from tark_lsp.workspace.documents import TextDocument

LONGEST_TITLE = 60


def problem_offers(
    problems: Problems, document: TextDocument, wanted: incoming.Range, encoding: str
) -> Iterator[Offer]:
    if document.path is None:
        return
    here = [
        problem
        for problem in problems.find_problems(document.path)
        if problem.start <= wanted.end.line and wanted.start.line < problem.end
    ]
    for problem in here:
        said = cut(problem_text(problem), LONGEST_TITLE)
        fix = {
            "kind": "fix",
            "prompt": "Fix this problem.",
            "context": [{"type": "text", "name": "The problem", "text": problem.message}],
            "textDocument": {"uri": document.uri},
            "range": problem_range(problem, encoding),
        }
        yield Offer(f"Fix: {said}", "tark.turn.start", fix, QUICKFIX)
        yield Offer(f"Dismiss: {said}", "tark.problem.dismiss", {"problemIds": [problem.id]}, QUICKFIX)
    everything = problems.find_problems()
    if here and len(everything) > 1:
        yield Offer(f"Dismiss all {len(everything)} problems", "tark.problem.dismiss", {}, QUICKFIX)
