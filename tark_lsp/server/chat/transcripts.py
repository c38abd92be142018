"""The transcripts of open chats, read once for each state of the text: editors ask for four things at a time."""

from tark_lsp.server.chat.transcript import Transcript, parse
from tark_lsp.server.documents.documents import DocumentEvent, Documents, TextDocument


class Transcripts:
    def __init__(self, documents: Documents) -> None:
        self._known: dict[TextDocument, Transcript] = {}
        documents.listen(self._forget)

    def of(self, document: TextDocument) -> Transcript:
        """Of a document that is open."""
        known = self._known.get(document)
        if known is None:
            known = self._known[document] = parse(document.lines)
        return known

    def _forget(self, event: DocumentEvent) -> None:
        self._known.pop(event.document, None)
