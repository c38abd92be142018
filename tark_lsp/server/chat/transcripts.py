"""The transcripts of open chats, parsed once per version of the text, because editors send several requests at once."""

from tark_lsp.server.chat.transcript import Transcript, parse
from tark_lsp.workspace.documents import DocumentEvent, Documents, TextDocument


class Transcripts:
    def __init__(self, documents: Documents) -> None:
        self._known: dict[TextDocument, Transcript] = {}
        documents.listen(self._forget)

    def transcript_of(self, document: TextDocument) -> Transcript:
        """The transcript of an open document."""
        known = self._known.get(document)
        if known is None:
            known = self._known[document] = parse(document.lines)
        return known

    def _forget(self, event: DocumentEvent) -> None:
        self._known.pop(event.document, None)
