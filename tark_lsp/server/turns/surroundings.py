"""The context in the first message of a turn: the document, open files, diagnostics, and attached texts."""

from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from tark_lsp.agent.prompt import LONGEST_ATTACHMENT, Pointer, PromptContext
from tark_lsp.context.images import MOST_IMAGES
from tark_lsp.context.snippets import format_head
from tark_lsp.errors import RequestError
from tark_lsp.messages import Image
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.prompting.mention_access import MentionAccess, why_not_readable
from tark_lsp.server.protocol import incoming
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.tools.masking import mask_selection
from tark_lsp.tools.places import place_of_path
from tark_lsp.tools.results import cap_result
from tark_lsp.workspace.documents import Documents

TOO_LONG = "{} is long: the model gets its beginning, and can read on"


class TurnSurroundings:
    def __init__(self, documents: Documents, targets: Targets, state: ClientState) -> None:
        self._documents = documents
        self._targets = targets
        self._state = state

    async def surroundings_of(
        self,
        record: TurnRecord,
        access: MentionAccess,
        mentioned: Iterable[tuple[str, str]],
        mentioned_images: Sequence[Image],
    ) -> PromptContext:
        """`mentioned`: names and texts of the mentions in the prompt. Attached files are read by the same rules."""
        request, target, workspace = record.request, record.target, access.context.workspace
        pointer = None
        diagnostics: Sequence[Diagnostic] = ()
        if target is not None and not request.chat:
            selection = mask_selection(access.context, target.selection)
            pointer = Pointer(target.name, selection, target.is_file, target.whole)
            if target.is_file:
                if not workspace.is_inside(target.selection.snapshot.path):
                    access.context.outside_sources.append(target.name)
                diagnostics = await self._state.read_diagnostics(target.selection.snapshot.path)
        if record.kind.base == "review":
            from tark_lsp.server.turns.review_changes import changes_to_review  # rarely needed

            mentioned = [*mentioned, await changes_to_review(request.prompt, access, record.notes)]
        given = [part for part in request.context if isinstance(part, incoming.ImageContext)]
        images = [*(Image(image.mime_type, image.data) for image in given), *mentioned_images]
        if len(images) > MOST_IMAGES:
            record.notes.append(f"only the first {MOST_IMAGES} images are sent")
        attached = [
            await self._attached(part, access, record.notes)
            for part in request.context
            if not isinstance(part, incoming.ImageContext)
        ]
        return PromptContext(
            pointer,
            [document.path for document in self._documents if document.path and workspace.is_inside(document.path)],
            _nearest(diagnostics, target),
            [*attached, *mentioned],
            images[:MOST_IMAGES],
        )

    async def _attached(
        self, part: incoming.FileContext | incoming.TextContext, access: MentionAccess, notes: list[str]
    ) -> tuple[str, str]:
        """The name and text of an attachment. A long text is cut, with a note on how to read on, and a user's note."""
        context = access.context
        if isinstance(part, incoming.TextContext):
            if len(part.text) > LONGEST_ATTACHMENT:
                notes.append(TOO_LONG.format(part.name))
            return part.name, cap_result(context, part.text.split("\n"), limit=LONGEST_ATTACHMENT)
        try:
            target = await self._targets.find_target(incoming.DocumentId(uri=part.uri), part.range)
        except RequestError as error:
            return _missing(part.uri, error.message.removeprefix("textDocument: "), notes)
        selection = target.selection
        if target.is_file:
            if why := why_not_readable(place_of_path(context, selection.snapshot.path), access):
                return _missing(target.name, why, notes)
            context.seen[selection.snapshot.path] = selection.snapshot
            selection = mask_selection(context, selection)
        text = selection.snapshot.text
        code = text[selection.start : selection.end]
        if len(code) > LONGEST_ATTACHMENT:
            notes.append(TOO_LONG.format(target.name))
        first = text.count("\n", 0, selection.start) + 1
        return target.name, format_head(selection.snapshot.path, first, code, LONGEST_ATTACHMENT, target.name)


def _missing(name: str, why: str, notes: list[str]) -> tuple[str, str]:
    """The entry for the model, and a note for the user. The reason can already name the file."""
    file = unquote(name).rsplit("/", 1)[-1]
    notes.append(why if file in why else f"{name}: {why}")
    return name, f"[not there: {why}]"


def _nearest(diagnostics: Sequence[Diagnostic], target: Target | None) -> list[Diagnostic]:
    """The diagnostics of the selection first, then the others, by line. For a whole document, all by line."""
    if target is None or target.whole:
        return sorted(diagnostics, key=lambda diagnostic: diagnostic.line)
    text = target.selection.snapshot.text
    first = text.count("\n", 0, target.selection.start)
    last = text.count("\n", 0, target.selection.end)
    return sorted(diagnostics, key=lambda diagnostic: (not first <= diagnostic.line <= last, diagnostic.line))
